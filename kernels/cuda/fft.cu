// Planes of lines on a device: cuFFT transforms many planes at once, in an order in which both the
// gathering and the transforms along columns read and write neighbouring numbers.
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "kernels/cuda/cufft.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/fft.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::kernels {
namespace {

/// Strides of rows and planes, in elements.
struct Strides {
  Index plane = 0;
  Index row = 0;
};

/// Copies rows x columns of each plane. Fewer than 2^32 elements, so that division is cheap.
template <class Element, class Real>
struct CopyPlanes {
  Element* to;
  const Element* from;
  Strides to_strides;
  Strides from_strides;
  std::uint32_t num_rows;
  std::uint32_t num_columns;
  Real factor;

  __device__ void operator()(Index i) const {
    const auto element = static_cast<std::uint32_t>(i);
    const std::uint32_t line = element / num_columns;
    const std::uint32_t column = element - line * num_columns;
    const std::uint32_t plane = line / num_rows;
    const std::uint32_t row = line - plane * num_rows;
    to[plane * to_strides.plane + row * to_strides.row + column] =
        factor * from[plane * from_strides.plane + row * from_strides.row + column];
  }
};

/// Makes those modes of each line real that a line of reals has so: the first and, of an even
/// length, the last. cuFFT asks for it, and promises nothing for others.
template <class Real>
struct DropImaginary {
  ComplexPair<Real>* modes;
  Index num_columns;
  bool is_even;

  __device__ void operator()(Index line) const {
    ComplexPair<Real>* const first = modes + line * num_columns;
    first->im = 0;
    if (is_even) first[num_columns - 1].im = 0;
  }
};

constexpr Index buffer_bytes = Index{1} << 28;
constexpr Index max_elements = Index{1} << 31;
constexpr Index alignment = 256;

template <class Real>
class CudaPlanes final : public PlanePlan<Real> {
 public:
  using Number = ComplexPair<Real>;

  CudaPlanes(const Cuda& exec, const PlaneSteps& steps) : exec_(exec), steps_(steps) {
    const Index plane = std::max<Index>(steps.num_rows * steps.num_columns, 1);
    if (2 * plane >= max_elements) {
      throw InputError("planes of " + std::to_string(steps.num_rows) + " x " +
                       std::to_string(steps.num_columns) +
                       " modes are too large for a device (fewer than 2^30 modes); use more ranks");
    }
    const Index fit = std::min(buffer_bytes / (plane * static_cast<Index>(sizeof(Number))),
                               max_elements / (2 * plane) - 1);
    planes_at_once_ = std::clamp<Index>(fit, 1, std::max<Index>(steps.max_planes(), 1));
    if (is_empty()) return;
    const DeviceScope scope(exec_.device);
    for (const Index planes : steps.calls) {
      if (planes >= planes_at_once_) reserve(planes_at_once_);
      reserve(planes % planes_at_once_);
    }
  }

  Index workspace_bytes() const override {
    return is_empty() ? 0
                      : 2 * buffer_size() * static_cast<Index>(sizeof(Number)) + reserved_bytes_ +
                            3 * alignment;
  }

  void run(const PlaneJob<Real>& job, Span<std::byte> workspace) const override {
    if (is_empty()) return;
    const DeviceScope scope(exec_.device);
    for (Index done = 0; done < job.num_planes; done += planes_at_once_) {
      PlaneJob<Real> part = job;
      part.first_plane += done;
      part.num_planes = std::min(planes_at_once_, job.num_planes - done);
      run_at_once(part, workspace_in(workspace));
    }
  }

 private:
  struct Workspace {
    Number* a;  ///< lies row, plane, column: the lines along columns side by side
    Number* b;  ///< lies plane, row, column
    void* work;
  };
  bool is_empty() const {
    return steps_.num_rows == 0 || steps_.num_columns == 0 || steps_.max_planes() == 0;
  }
  Index buffer_size() const {
    const Index elements = planes_at_once_ * steps_.num_rows * steps_.num_columns;
    const Index per_line = alignment / static_cast<Index>(sizeof(Number));
    return (elements + per_line - 1) / per_line * per_line;
  }
  Workspace workspace_in(Span<std::byte> workspace) const {
    const auto address = reinterpret_cast<std::uintptr_t>(workspace.data());
    auto* const first =
        reinterpret_cast<Number*>((address + alignment - 1) / alignment * alignment);
    return {first, first + buffer_size(), first + 2 * buffer_size()};
  }
  Strides row_first(Index planes) const {
    return {steps_.num_columns, planes * steps_.num_columns};
  }
  Strides plane_first() const { return {steps_.num_rows * steps_.num_columns, steps_.num_columns}; }

  bool is_real() const {
    return steps_.load_rows == RowTransform::real_to_complex ||
           steps_.store_rows == RowTransform::complex_to_real;
  }
  // Cells that are not aligned as complex numbers, and rows of reals at an odd distance, are not
  // what cuFFT takes: they go through aligned rows, as far apart as rows of modes.
  bool suits_cufft(const Real* cells, const PlanePiece& piece) const {
    const bool is_aligned = reinterpret_cast<std::uintptr_t>(cells) % sizeof(Number) == 0;
    return is_aligned && (!is_real() || piece.row_stride % 2 == 0);
  }
  Index even_distance() const { return 2 * steps_.num_columns; }  ///< of these, in reals
  Index aligned_distance() const { return is_real() ? even_distance() : steps_.num_columns; }

  CufftLines row_lines(Index planes, Index distance) const;
  CufftLines column_lines(Index planes) const;
  const CufftPlan& plan_for(const CufftLines& lines) const;
  void reserve(Index planes);
  template <class Call>
  void with_plan(const CufftLines& lines, const Workspace& workspace, const Call& call) const;
  template <class Element>
  void copy(const CopyPlanes<Element, Real>& functor, Index planes) const;
  void run_at_once(const PlaneJob<Real>& job, const Workspace& workspace) const;
  void load_pieces(const PlaneJob<Real>& job, const Workspace& workspace) const;
  void load_from_cells(const PlaneJob<Real>& job, const Workspace& workspace) const;
  void copy_cells(const PlaneJob<Real>& job, const PlanePiece& cells, Real* aligned,
                  bool back) const;
  void store_to_pieces(const PlaneJob<Real>& job, const Number* from, const Strides& strides) const;
  void store_to_cells(const PlaneJob<Real>& job, const Workspace& workspace) const;
  void permute(Index planes, const Workspace& workspace, bool to_a) const;

  Cuda exec_;
  PlaneSteps steps_;
  Index planes_at_once_ = 1;
  Index reserved_bytes_ = 0;
  mutable std::map<CufftLines, std::shared_ptr<const CufftPlan>>
      plans_;  ///< the sizes that occurred
};

// ---------------------------------------------------------------- plans

template <class Real>
CufftLines CudaPlanes<Real>::row_lines(Index planes, Index distance) const {
  constexpr bool is_float = std::is_same_v<Real, float>;
  CufftLines lines;
  lines.length = steps_.line_length;
  lines.num = planes * steps_.num_rows;
  lines.in_distance = distance;
  lines.out_distance = steps_.num_columns;
  lines.type = is_float ? CUFFT_C2C : CUFFT_Z2Z;
  if (steps_.load_rows == RowTransform::real_to_complex)
    lines.type = is_float ? CUFFT_R2C : CUFFT_D2Z;
  if (steps_.store_rows == RowTransform::complex_to_real)
    lines.type = is_float ? CUFFT_C2R : CUFFT_Z2D;
  if (steps_.store_rows != RowTransform::none) std::swap(lines.in_distance, lines.out_distance);
  return lines;
}

template <class Real>
CufftLines CudaPlanes<Real>::column_lines(Index planes) const {
  CufftLines lines;
  lines.type = std::is_same_v<Real, float> ? CUFFT_C2C : CUFFT_Z2Z;
  lines.length = steps_.num_rows;
  lines.stride = lines.num = planes * steps_.num_columns;
  lines.in_distance = lines.out_distance = 1;
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
  const Buffer<std::byte> room(exec_, bytes,
                               "work area of cuFFT");  // used again only by what is queued behind
  call(plan.with_work_area(const_cast<std::byte*>(room.data())));
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
  CopyPlanes<Real, Real> functor{
      aligned,
      static_cast<Real*>(cells.data) + reals * cells.offset(job.first_plane, 0),
      {steps_.num_rows * even_distance(), even_distance()},
      {reals * cells.plane_stride, reals * cells.row_stride},
      static_cast<std::uint32_t>(steps_.num_rows),
      static_cast<std::uint32_t>(reals * steps_.line_length),
      Real{1}};
  if (back) {
    functor.to = const_cast<Real*>(functor.from);
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

/// All planes are read before any is written, on one stream.
template <class Real>
void CudaPlanes<Real>::run_at_once(const PlaneJob<Real>& job, const Workspace& workspace) const {
  const bool has_columns = steps_.columns != ColumnTransform::none;
  const bool from_cells = steps_.load_rows != RowTransform::none;
  if (from_cells) {
    load_from_cells(job, workspace);
    if (has_columns) permute(job.num_planes, workspace, true);
  } else {
    load_pieces(job, workspace);
  }
  if (has_columns) {
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

}  // namespace

template <class Real>
std::unique_ptr<PlanePlan<Real>> plan_planes(const Cuda& exec, const PlaneSteps& steps) {
  return std::make_unique<CudaPlanes<Real>>(exec, steps);
}
template std::unique_ptr<PlanePlan<float>> plan_planes(const Cuda&, const PlaneSteps&);
template std::unique_ptr<PlanePlan<double>> plan_planes(const Cuda&, const PlaneSteps&);

}  // namespace zhalo::kernels
