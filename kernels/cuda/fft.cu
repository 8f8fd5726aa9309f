// Planes of lines on a device: cuFFT transforms many planes at once, in an order in which both the
// gathering and the transforms along columns read and write neighbouring numbers.
#include "kernels/cuda/fft.cuh"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace zhalo::kernels {

// ---------------------------------------------------------------- plans

template <class Real>
CufftLines CudaPlanes<Real>::row_lines(Index planes, Index distance) const {
  constexpr bool is_float = std::is_same_v<Real, float>;
  CufftLines lines;
  lines.length = steps_.line_length;
  lines.num = planes * steps_.num_rows;
  lines.in.distance = distance;
  lines.out.distance = steps_.num_columns;
  lines.type = is_float ? CUFFT_C2C : CUFFT_Z2Z;
  if (steps_.load_rows == RowTransform::real_to_complex)
    lines.type = is_float ? CUFFT_R2C : CUFFT_D2Z;
  if (steps_.store_rows == RowTransform::complex_to_real)
    lines.type = is_float ? CUFFT_C2R : CUFFT_Z2D;
  if (steps_.store_rows != RowTransform::none) std::swap(lines.in, lines.out);
  return lines;
}

template <class Real>
CufftLines CudaPlanes<Real>::column_lines(Index planes) const {
  CufftLines lines;
  lines.type = std::is_same_v<Real, float> ? CUFFT_C2C : CUFFT_Z2Z;
  lines.length = steps_.num_rows;
  lines.num = planes * steps_.num_columns;
  lines.in = lines.out = {lines.num, 0, 1};
  return lines;
}

/// Rows and columns at once.
template <class Real>
CufftLines CudaPlanes<Real>::plane_lines(Index planes, const PlanePiece& from,
                                         const PlanePiece& to) const {
  CufftLines lines = row_lines(planes, 0);
  lines.num = planes;
  lines.num_rows = steps_.num_rows;
  lines.in = {1, from.row_stride, from.plane_stride};
  lines.out = {1, to.row_stride, to.plane_stride};
  return lines;
}

template <class Real>
const CufftPlan& CudaPlanes<Real>::plan_for(const CufftLines& lines) const {
  std::shared_ptr<const CufftPlan>& plan = plans_[lines];
  if (plan == nullptr) plan = exec_.pool->kept<KeptPlans>().get(exec_, lines);
  return *plan;
}

/// Plans what is known to come, and the work area for it.
template <class Real>
void CudaPlanes<Real>::reserve(Index planes) {
  if (planes == 0) return;
  const auto need = [&](const CufftLines& lines) {
    reserved_bytes_ = std::max(reserved_bytes_, static_cast<Index>(plan_for(lines).work_bytes()));
  };
  if (steps_.columns != ColumnTransform::none) need(column_lines(planes));
  if (steps_.load_rows == RowTransform::none && steps_.store_rows == RowTransform::none) return;
  need(row_lines(planes, aligned_distance()));
  if (steps_.line_length % 2 == 0) need(row_lines(planes, steps_.line_length));
}

template <class Real>
template <class Call>
void CudaPlanes<Real>::with_plan(const CufftLines& lines, const Workspace& workspace,
                                 const Call& call) const {
  const CufftPlan& plan = plan_for(lines);
  const auto bytes = static_cast<Index>(plan.work_bytes());
  if (bytes <= reserved_bytes_) return call(plan.with_work_area(workspace.work));
  // Its memory is used again only by what is queued behind.
  Buffer<std::byte> room(exec_, bytes, "work area of cuFFT");
  call(plan.with_work_area(room.data()));
}

// ---------------------------------------------------------------- steps

template <class Real>
template <class Element>
void CudaPlanes<Real>::copy(const CopyPlanes<Element, Real>& functor, Index planes) const {
  for_each(exec_, planes * Index{functor.num_rows} * functor.num_columns, functor);
}

template <class Real>
void CudaPlanes<Real>::permute(Index planes, const Workspace& workspace, bool to_a) const {
  CopyPlanes<Number, Real> functor{workspace.a,
                                   workspace.b,
                                   row_first(planes),
                                   plane_first(),
                                   static_cast<std::uint32_t>(steps_.num_rows),
                                   static_cast<std::uint32_t>(steps_.num_columns),
                                   Real{1}};
  if (!to_a) {
    functor.to = workspace.b;
    functor.from = workspace.a;
    std::swap(functor.to_strides, functor.from_strides);
  }
  copy(functor, planes);
}

template <class Real>
void CudaPlanes<Real>::load_pieces(const PlaneJob<Real>& job, const Workspace& workspace) const {
  const Strides inside = row_first(job.num_planes);
  for (const PlanePiece& piece : job.load) {
    const auto* const from =
        static_cast<const Number*>(piece.data) + piece.offset(job.first_plane, piece.first_row);
    copy(CopyPlanes<Number, Real>{workspace.a + piece.first_row * inside.row + piece.first_column,
                                  from,
                                  inside,
                                  {piece.plane_stride, piece.row_stride},
                                  static_cast<std::uint32_t>(piece.num_rows),
                                  static_cast<std::uint32_t>(piece.num_columns),
                                  Real{1}},
         job.num_planes);
  }
}

/// Cells of a piece to aligned rows in room a, or back.
template <class Real>
void CudaPlanes<Real>::copy_cells(const PlaneJob<Real>& job, const PlanePiece& cells, Real* aligned,
                                  bool back) const {
  const Index reals = is_real() ? 1 : 2;  // of a cell
  Real* const first = static_cast<Real*>(cells.data) + reals * cells.offset(job.first_plane, 0);
  CopyPlanes<Real, Real> functor{aligned,
                                 first,
                                 {steps_.num_rows * even_distance(), even_distance()},
                                 {reals * cells.plane_stride, reals * cells.row_stride},
                                 static_cast<std::uint32_t>(steps_.num_rows),
                                 static_cast<std::uint32_t>(reals * steps_.line_length),
                                 Real{1}};
  if (back) {
    functor.to = first;
    functor.from = aligned;
    std::swap(functor.to_strides, functor.from_strides);
  }
  copy(functor, job.num_planes);
}

/// Cells are dense: one row behind the other, also from plane to plane.
template <class Real>
void CudaPlanes<Real>::load_from_cells(const PlaneJob<Real>& job,
                                       const Workspace& workspace) const {
  const PlanePiece& cells = job.load[0];
  auto* from =
      static_cast<Real*>(cells.data) + (is_real() ? 1 : 2) * cells.offset(job.first_plane, 0);
  Index distance = cells.row_stride;
  if (!suits_cufft(from, cells)) {
    from = reinterpret_cast<Real*>(workspace.a);
    distance = aligned_distance();
    copy_cells(job, cells, from, false);
  }
  with_plan(row_lines(job.num_planes, distance), workspace, [&](cufftHandle plan) {
    if (is_real()) return execute(plan, from, workspace.b);
    execute(plan, reinterpret_cast<Number*>(from), workspace.b, CUFFT_FORWARD);
  });
}

template <class Real>
void CudaPlanes<Real>::store_to_pieces(const PlaneJob<Real>& job, const Number* from,
                                       const Strides& strides) const {
  for (const PlanePiece& piece : job.store) {
    auto* const to =
        static_cast<Number*>(piece.data) + piece.offset(job.first_plane, piece.first_row);
    copy(CopyPlanes<Number, Real>{to,
                                  from + piece.first_row * strides.row + piece.first_column,
                                  {piece.plane_stride, piece.row_stride},
                                  strides,
                                  static_cast<std::uint32_t>(piece.num_rows),
                                  static_cast<std::uint32_t>(piece.num_columns),
                                  job.factor},
         job.num_planes);
  }
}

template <class Real>
void CudaPlanes<Real>::store_to_cells(const PlaneJob<Real>& job, const Workspace& workspace) const {
  permute(job.num_planes, workspace, false);
  if (is_real())
    for_each(exec_, job.num_planes * steps_.num_rows,
             DropImaginary<Real>{workspace.b, steps_.num_columns, steps_.line_length % 2 == 0});
  const PlanePiece& cells = job.store[0];
  auto* to =
      static_cast<Real*>(cells.data) + (is_real() ? 1 : 2) * cells.offset(job.first_plane, 0);
  const bool suits = suits_cufft(to, cells);
  if (!suits) to = reinterpret_cast<Real*>(workspace.a);
  const Index distance = suits ? cells.row_stride : aligned_distance();
  with_plan(row_lines(job.num_planes, distance), workspace, [&](cufftHandle plan) {
    if (is_real()) return execute(plan, workspace.b, to);
    execute(plan, workspace.b, reinterpret_cast<Number*>(to), CUFFT_INVERSE);
  });
  if (!suits) copy_cells(job, cells, to, true);
}

// ---------------------------------------------------------------- without workspace

/// Whether there is one piece, which has all rows and columns.
template <class Real>
bool CudaPlanes<Real>::is_whole(Span<const PlanePiece> pieces) const {
  return pieces.size() == 1 && pieces[0].num_rows == steps_.num_rows &&
         pieces[0].num_columns == steps_.num_columns;
}

namespace {

/// Whether no byte is in both: [a, a + size_of_a) and [b, b + size_of_b).
bool are_apart(const void* a, Index size_of_a, const void* b, Index size_of_b) {
  const auto first = reinterpret_cast<std::uintptr_t>(a);
  const auto second = reinterpret_cast<std::uintptr_t>(b);
  return first + static_cast<std::uintptr_t>(size_of_a) <= second ||
         second + static_cast<std::uintptr_t>(size_of_b) <= first;
}

}  // namespace

/// From cells straight to the only piece, in two dimensions. False if that cannot be.
template <class Real>
bool CudaPlanes<Real>::transform_planes(const PlaneJob<Real>& job,
                                        const Workspace& workspace) const {
  if (steps_.load_rows == RowTransform::none || steps_.columns != ColumnTransform::forward ||
      !is_whole(job.store) || job.factor != Real{1})
    return false;
  const PlanePiece& cells = job.load[0];
  const PlanePiece& piece = job.store[0];
  const Index reals = is_real() ? 1 : 2;  // of a cell
  auto* const from = static_cast<Real*>(cells.data) + reals * cells.offset(job.first_plane, 0);
  auto* const to = static_cast<Number*>(piece.data) + piece.offset(job.first_plane, 0);
  const auto size_of = [&](const PlanePiece& p, std::size_t element) {
    return job.num_planes * p.plane_stride * static_cast<Index>(element);
  };
  if (!suits_cufft(from, cells) || !is_aligned(to) || piece.row_stride < steps_.num_columns ||
      piece.plane_stride < steps_.num_rows * piece.row_stride ||
      cells.plane_stride < steps_.num_rows * cells.row_stride ||
      !are_apart(from, size_of(cells, static_cast<std::size_t>(reals) * sizeof(Real)), to,
                 size_of(piece, sizeof(Number))))
    return false;
  with_plan(plane_lines(job.num_planes, cells, piece), workspace, [&](cufftHandle plan) {
    if (is_real()) return execute(plan, from, to);
    execute(plan, reinterpret_cast<Number*>(from), to, CUFFT_FORWARD);
  });
  return true;
}

/// Columns of the only piece, whose planes lie side by side; to room a or, if what is stored is
/// such a piece, too, straight to there.
template <class Real>
auto CudaPlanes<Real>::transform_columns(const PlaneJob<Real>& job,
                                         const Workspace& workspace) const -> Columns {
  const auto are_side_by_side = [&](Span<const PlanePiece> pieces) {
    return is_whole(pieces) && pieces[0].plane_stride == steps_.num_columns;
  };
  const auto address_of = [&](const PlanePiece& piece) {
    return static_cast<Number*>(piece.data) + piece.offset(job.first_plane, 0);
  };
  const auto size_of = [&](const PlanePiece& piece) {
    return steps_.num_rows * piece.row_stride * static_cast<Index>(sizeof(Number));
  };
  if (steps_.columns == ColumnTransform::none || steps_.load_rows != RowTransform::none ||
      !are_side_by_side(job.load) || !is_aligned(address_of(job.load[0])))
    return Columns::untouched;
  const PlanePiece& piece = job.load[0];
  Number* const from = address_of(piece);
  CufftLines lines = column_lines(job.num_planes);
  lines.in.stride = piece.row_stride;
  Number* to = workspace.a;
  const bool is_stored =
      steps_.store_rows == RowTransform::none && job.factor == Real{1} &&
      are_side_by_side(job.store) && is_aligned(address_of(job.store[0])) &&
      are_apart(from, size_of(piece), address_of(job.store[0]), size_of(job.store[0]));
  if (is_stored) {
    to = address_of(job.store[0]);
    lines.out.stride = job.store[0].row_stride;
  }
  const int sign = steps_.columns == ColumnTransform::forward ? CUFFT_FORWARD : CUFFT_INVERSE;
  with_plan(lines, workspace, [&](cufftHandle plan) { execute(plan, from, to, sign); });
  return is_stored ? Columns::stored : Columns::in_room;
}

// ---------------------------------------------------------------- all steps

/// All planes are read before any is written, on one stream.
template <class Real>
void CudaPlanes<Real>::run_at_once(const PlaneJob<Real>& job, const Workspace& workspace) const {
  if (transform_planes(job, workspace)) return;
  const bool has_columns = steps_.columns != ColumnTransform::none;
  const bool from_cells = steps_.load_rows != RowTransform::none;
  const Columns columns = transform_columns(job, workspace);
  if (columns == Columns::stored) return;
  if (from_cells) {
    load_from_cells(job, workspace);
    if (has_columns) permute(job.num_planes, workspace, true);
  } else if (columns == Columns::untouched) {
    load_pieces(job, workspace);
  }
  if (has_columns && columns == Columns::untouched) {
    const int sign = steps_.columns == ColumnTransform::forward ? CUFFT_FORWARD : CUFFT_INVERSE;
    with_plan(column_lines(job.num_planes), workspace,
              [&](cufftHandle plan) { execute(plan, workspace.a, workspace.a, sign); });
  }
  if (steps_.store_rows != RowTransform::none) {
    store_to_cells(job, workspace);
  } else if (from_cells && !has_columns) {
    store_to_pieces(job, workspace.b, plane_first());
  } else {
    store_to_pieces(job, workspace.a, row_first(job.num_planes));
  }
}

template <class Real>
PlanePlans<Real> plan_planes(const Cuda& exec, const std::vector<PlaneSteps>& steps) {
  PlanePlans<Real> plans;
  plans.reserve(steps.size());
  for (const PlaneSteps& each : steps)
    plans.push_back(std::make_shared<CudaPlanes<Real>>(exec, each));
  return plans;
}
template PlanePlans<float> plan_planes(const Cuda&, const std::vector<PlaneSteps>&);
template PlanePlans<double> plan_planes(const Cuda&, const std::vector<PlaneSteps>&);

}  // namespace zhalo::kernels
