// Planes of lines on the host: each plane is gathered into memory that stays in the cache, transformed there by FFTW's one-dimensional
// transforms, and written to where it goes next, past the cache.
#include <algorithm>
#include <array>
#include <complex>
#include <cstring>
#include <limits>
#include <string>

#include "kernels/fft.hpp"
#include "kernels/host/fftw.hpp"
#include "kernels/host/parallel.hpp"
#include "kernels/host/streaming.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::kernels {
namespace {

constexpr Index cache_line = 64;
/// Planes that are small are taken several at a time, so that threads have something to do between waits for each other.
constexpr Index bytes_at_once = 1 << 20;
constexpr Index most_planes_at_once = 64;  ///< a thread
/// Columns of one call of FFTW: whole cache lines of each row, and not more than stay in the cache.
constexpr Index columns_at_once = 32;

/// A part of a sequence.
struct Range {
  Index first = 0;
  Index last = 0;
};
Range part_of(Index num, Index part, Index parts) { return {num * part / parts, num * (part + 1) / parts}; }

int line_size(Index num) {
  if (num > std::numeric_limits<int>::max())
    throw InputError("a line of the grid has " + std::to_string(num) + " cells (FFTW takes at most 2147483647)");
  return static_cast<int>(num);
}

template <class Real>
class HostPlanes final : public PlanePlan<Real> {
 public:
  using Complex = typename Fftw<Real>::Complex;
  using Cells = std::complex<Real>;

  HostPlanes(const Host& exec, const PlaneSteps& steps) : exec_(exec), steps_(steps), row_pitch_(pitch_for(steps.num_columns)) {
    const Index threads = threads_of(exec);
    const Index fit = std::clamp<Index>(bytes_at_once / std::max<Index>(plane_bytes(), 1), 1, most_planes_at_once);
    planes_at_once_ = std::clamp<Index>(fit * threads, 1, std::max<Index>(steps.most_planes, 1));
    plan();
  }

  Index workspace_bytes() const override { return planes_at_once_ * plane_bytes(); }

  void run(const PlaneJob<Real>& job, Span<std::byte> workspace) const override {
    if (steps_.num_rows == 0 || steps_.num_columns == 0) return;
    ZHALO_EXPECT(workspace.size() >= workspace_bytes());
    auto* room = reinterpret_cast<Cells*>(workspace.data());
    for (Index done = 0; done < job.num_planes; done += planes_at_once_) {
      PlaneJob<Real> part = job;
      part.first_plane += done;
      part.num_planes = std::min(planes_at_once_, job.num_planes - done);
      run_at_once(part, room);
    }
  }

 private:
  /// An odd number of cache lines: rows at the same place fall into different sets of the cache.
  static Index pitch_for(Index num_columns) {
    const auto element = static_cast<Index>(sizeof(Cells));
    const Index lines = (num_columns * element + cache_line - 1) / cache_line | 1;
    return lines * cache_line / element;
  }
  Index plane_size() const { return row_pitch_ * steps_.num_rows; }
  Index plane_bytes() const { return plane_size() * static_cast<Index>(sizeof(Cells)); }

  void plan();
  void plan_rows(RowTransform transform, unsigned flags, std::array<FftwPlan<Real>, 2>& plans, Cells* scratch) const;
  void run_at_once(const PlaneJob<Real>& job, Cells* room) const;
  void fill(const PlaneJob<Real>& job, Index plane, Cells* to, const Range& rows) const;
  void transform_row(void* from, Cells* to) const;
  void transform_columns(Cells* plane, const Range& columns) const;
  void drain(const PlaneJob<Real>& job, Index plane, const Cells* from, const Range& columns) const;
  void drain_rows(const PlaneJob<Real>& job, Index plane, Cells* from, const Range& rows) const;

  Host exec_;
  PlaneSteps steps_;
  Index row_pitch_;
  Index planes_at_once_ = 1;
  std::array<FftwPlan<Real>, 2> fill_rows_;  ///< of cells that are aligned for vectors, and of others
  std::array<FftwPlan<Real>, 2> drain_rows_;
  FftwPlan<Real> columns_;       ///< columns_at_once of them
  FftwPlan<Real> last_columns_;  ///< the rest
};

// ---------------------------------------------------------------- planning

template <class Real>
void HostPlanes<Real>::plan_rows(RowTransform transform, unsigned flags, std::array<FftwPlan<Real>, 2>& plans,
                                 Cells* scratch) const {
  if (transform == RowTransform::none) return;
  const int num = line_size(steps_.line_length);
  auto* plane = reinterpret_cast<Complex*>(scratch);
  auto* cells = reinterpret_cast<Complex*>(scratch + pitch_for(steps_.line_length));
  const LinesShape line{num, 1, 1, num};
  for (const unsigned alignment : {0U, FFTW_UNALIGNED}) {
    const unsigned all = flags | alignment;
    FftwPlan<Real>& to = plans[alignment == 0 ? 0 : 1];
    switch (transform) {
      case RowTransform::real_to_complex:
        to = FftwPlan<Real>(Fftw<Real>::plan_real_to_complex(num, reinterpret_cast<Real*>(cells), plane, all));
        break;
      case RowTransform::complex_to_real:
        to = FftwPlan<Real>(Fftw<Real>::plan_complex_to_real(num, plane, reinterpret_cast<Real*>(cells), all));
        break;
      case RowTransform::forward: to = FftwPlan<Real>(Fftw<Real>::plan_complex(line, {cells, plane}, FFTW_FORWARD, all)); break;
      case RowTransform::backward:
        to = FftwPlan<Real>(Fftw<Real>::plan_complex(line, {plane, cells}, FFTW_BACKWARD, all));
        break;
      case RowTransform::none: break;
    }
  }
}

template <class Real>
void HostPlanes<Real>::plan() {
  if (steps_.num_rows == 0 || steps_.num_columns == 0) return;
  const unsigned flags = steps_.measure ? FFTW_MEASURE : FFTW_ESTIMATE;
  const Index row_size = 2 * pitch_for(std::max(steps_.line_length, steps_.num_columns));
  const Buffer<Cells> scratch(exec_, std::max(row_size, plane_size()), "planning of Fourier transforms");
  auto* room = const_cast<Cells*>(scratch.data());
  const std::lock_guard lock(fftw_planner());
  plan_rows(steps_.fill_rows, flags, fill_rows_, room);
  plan_rows(steps_.drain_rows, flags | FFTW_DESTROY_INPUT, drain_rows_, room);
  if (steps_.columns == ColumnTransform::none) return;
  const int sign = steps_.columns == ColumnTransform::forward ? FFTW_FORWARD : FFTW_BACKWARD;
  auto* plane = reinterpret_cast<Complex*>(room);
  LinesShape lines{line_size(steps_.num_rows), static_cast<int>(columns_at_once), line_size(row_pitch_), 1};
  if (steps_.num_columns >= columns_at_once)
    columns_ = FftwPlan<Real>(Fftw<Real>::plan_complex(lines, {plane, plane}, sign, flags));
  lines.many = static_cast<int>(steps_.num_columns % columns_at_once);
  if (lines.many > 0) last_columns_ = FftwPlan<Real>(Fftw<Real>::plan_complex(lines, {plane, plane}, sign, flags));
}

// ---------------------------------------------------------------- running

/// All planes are filled before any is drained: a drain may overwrite what another plane was filled from.
template <class Real>
void HostPlanes<Real>::run_at_once(const PlaneJob<Real>& job, Cells* room) const {
  const Index threads = threads_of(exec_);
  const Index parts = (threads + job.num_planes - 1) / job.num_planes;
  const auto on_parts = [&](const auto& work) {
    run_tasks(exec_, job.num_planes * parts, [&](Index task) { work(task / parts, task % parts); });
  };
  on_parts([&](Index plane, Index part) {
    fill(job, job.first_plane + plane, room + plane * plane_size(), part_of(steps_.num_rows, part, parts));
  });
  const Index blocks = (steps_.num_columns + columns_at_once - 1) / columns_at_once;
  on_parts([&](Index plane, Index part) {
    const Range block = part_of(blocks, part, parts);
    const Range columns = {block.first * columns_at_once, std::min(block.last * columns_at_once, steps_.num_columns)};
    Cells* const cells = room + plane * plane_size();
    transform_columns(cells, columns);
    if (steps_.drain_rows == RowTransform::none) drain(job, job.first_plane + plane, cells, columns);
  });
  if (steps_.drain_rows == RowTransform::none) return;
  on_parts([&](Index plane, Index part) {
    drain_rows(job, job.first_plane + plane, room + plane * plane_size(), part_of(steps_.num_rows, part, parts));
  });
}

template <class Real>
void HostPlanes<Real>::transform_row(void* from, Cells* to) const {
  auto* const row = reinterpret_cast<Complex*>(to);
  const FftwPlan<Real>& plan = fill_rows_[Fftw<Real>::is_aligned(from) ? 0 : 1];
  if (steps_.fill_rows == RowTransform::real_to_complex) {
    plan.run(static_cast<Real*>(from), row);
  } else {
    plan.run(static_cast<Complex*>(from), row);
  }
}

template <class Real>
void HostPlanes<Real>::fill(const PlaneJob<Real>& job, Index plane, Cells* to, const Range& rows) const {
  for (const PlanePiece& piece : job.fill) {
    const Index first = std::max(rows.first, piece.first_row);
    const Index last = std::min(rows.last, piece.first_row + piece.num_rows);
    for (Index row = first; row < last; ++row) {
      const Index at = piece.offset(plane, row);
      Cells* const target = to + row * row_pitch_ + piece.first_column;
      if (steps_.fill_rows == RowTransform::real_to_complex) {
        transform_row(static_cast<Real*>(piece.data) + at, target);
      } else if (steps_.fill_rows == RowTransform::forward) {
        transform_row(static_cast<Cells*>(piece.data) + at, target);
      } else {
        std::copy_n(static_cast<const Cells*>(piece.data) + at, piece.num_columns, target);
      }
    }
  }
}

template <class Real>
void HostPlanes<Real>::transform_columns(Cells* plane, const Range& columns) const {
  if (steps_.columns == ColumnTransform::none) return;
  for (Index first = columns.first; first < columns.last; first += columns_at_once) {
    auto* const block = reinterpret_cast<Complex*>(plane + first);
    (first + columns_at_once <= columns.last ? columns_ : last_columns_).run(block, block);
  }
}

template <class Real>
void HostPlanes<Real>::drain(const PlaneJob<Real>& job, Index plane, const Cells* from, const Range& columns) const {
  for (const PlanePiece& piece : job.drain) {
    const Index first = std::max(columns.first, piece.first_column);
    const Index num = 2 * (std::min(columns.last, piece.first_column + piece.num_columns) - first);
    if (num <= 0) continue;
    for (Index row = 0; row < piece.num_rows; ++row) {
      Cells* const to =
          static_cast<Cells*>(piece.data) + piece.offset(plane, piece.first_row + row) + (first - piece.first_column);
      const Cells* const source = from + (piece.first_row + row) * row_pitch_ + first;
      const auto copy = job.is_large ? stream_scaled<Real> : copy_scaled<Real>;
      copy(reinterpret_cast<Real*>(to), reinterpret_cast<const Real*>(source), num, job.factor);
    }
  }
  if (job.is_large) finish_streaming();
}

template <class Real>
void HostPlanes<Real>::drain_rows(const PlaneJob<Real>& job, Index plane, Cells* from, const Range& rows) const {
  const PlanePiece& piece = job.drain[0];
  for (Index row = rows.first; row < rows.last; ++row) {
    const Index at = piece.offset(plane, row);
    auto* const source = reinterpret_cast<Complex*>(from + row * row_pitch_);
    if (steps_.drain_rows == RowTransform::complex_to_real) {
      Real* const to = static_cast<Real*>(piece.data) + at;
      drain_rows_[Fftw<Real>::is_aligned(to) ? 0 : 1].run(source, to);
    } else {
      auto* const to = static_cast<Complex*>(piece.data) + at;
      drain_rows_[Fftw<Real>::is_aligned(to) ? 0 : 1].run(source, to);
    }
  }
}

}  // namespace

template <class Real>
std::unique_ptr<PlanePlan<Real>> plan_planes(const Host& exec, const PlaneSteps& steps) {
  return std::make_unique<HostPlanes<Real>>(exec, steps);
}
template std::unique_ptr<PlanePlan<float>> plan_planes(const Host&, const PlaneSteps&);
template std::unique_ptr<PlanePlan<double>> plan_planes(const Host&, const PlaneSteps&);

}  // namespace zhalo::kernels
