// Planes of lines on the host: each plane is gathered into memory that stays in the cache,
// transformed there by FFTW's one-dimensional transforms, and written to where it goes next, past
// the cache.

#include <algorithm>
#include <atomic>
#include <complex>
#include <limits>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "kernels/fft.hpp"
#include "kernels/host/fft_lines.hpp"
#include "kernels/host/parallel.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/core/types.hpp"

namespace zhalo::kernels {
namespace {

/// Threads take planes of their own, unless these are larger than this: then all work on one, so
/// that memory does not grow with threads.
constexpr Index max_bytes_of_own = Index{8} << 20;
/// FFTW transforms columns of up to so many rows fastest where they lie; longer ones in lines of
/// their own.
constexpr Index max_rows_in_place = 128;

/// A part of a sequence.
struct Range {
  Index first = 0;
  Index last = 0;
};
Range part_of(Index num, Index part, Index parts) {
  return {num * part / parts, num * (part + 1) / parts};
}

int line_size(Index num) {
  if (num > std::numeric_limits<int>::max())
    throw InputError("a line of the grid has " + std::to_string(num) +
                     " cells (FFTW takes at most 2147483647)");
  return static_cast<int>(num);
}

template <class Real>
class HostPlanes final : public PlanePlan<Real> {
 public:
  using Complex = typename Fftw<Real>::Complex;
  using Cells = std::complex<Real>;

  HostPlanes(const Host& exec, const PlaneSteps& steps)
      : exec_(exec),
        steps_(steps),
        threads_(threads_of(exec)),
        row_pitch_(pitch_for(steps.num_columns)) {
    const bool are_large = plane_bytes() > max_bytes_of_own;
    planes_at_once_ =
        are_large ? 1 : std::clamp<Index>(threads_, 1, std::max<Index>(steps.max_planes(), 1));
  }
  /// To be called once before run(), under the planner's lock.
  void plan();

  Index workspace_bytes() const override {
    return (planes_at_once_ * plane_size() + threads_ * lines_size()) * element;
  }

  void run(const PlaneJob<Real>& job, Span<std::byte> workspace) const override {
    if (steps_.num_rows == 0 || steps_.num_columns == 0) return;
    ZHALO_EXPECT(workspace.size() >= workspace_bytes());
    auto* room = reinterpret_cast<Cells*>(workspace.data());
    clear_padding(room);
    const bool is_even = job.num_planes >= 4 * threads_ || job.num_planes % threads_ == 0;
    if (planes_at_once_ >= threads_ && is_even) return run_apart(job, room);
    for (Index plane = 0; plane < job.num_planes; ++plane) {
      run_together(job, job.first_plane + plane, room);
      if (job.between != nullptr) (*job.between)();
    }
  }

 private:
  static constexpr auto element = static_cast<Index>(sizeof(Cells));
  /// Columns that are transformed at once: a cache line of each row. The last may be padding.
  static constexpr Index columns_at_once = cache_line / element;
  /// What a thread works with: a plane, a row for cells that are not aligned for vectors, and
  /// columns before and after their transform.
  struct ThreadWorkspace {
    Cells* plane;
    Cells* row;
    Cells* columns;
  };

  /// An odd number of cache lines: rows at the same offset fall into different sets of the cache.
  static Index pitch_for(Index num_columns) {
    const Index lines = (num_columns * element + cache_line - 1) / cache_line | 1;
    return lines * cache_line / element;
  }
  Index plane_size() const { return row_pitch_ * steps_.num_rows; }
  Index plane_bytes() const { return plane_size() * element; }
  Index row_size() const { return pitch_for(steps_.line_length); }
  Index column_size() const { return pitch_for(steps_.num_rows); }
  bool transforms_in_place() const { return steps_.num_rows <= max_rows_in_place; }
  Index lines_size() const {
    const bool has_columns = steps_.columns != ColumnTransform::none && !transforms_in_place();
    return row_size() + (has_columns ? 2 * columns_at_once * column_size() : 0);
  }
  ThreadWorkspace room_of(Cells* workspace, Index room, Index thread) const {
    Cells* const lines = workspace + planes_at_once_ * plane_size() + thread * lines_size();
    return {workspace + room * plane_size(), lines, lines + row_size()};
  }

  void clear_padding(Cells* workspace) const;
  FftwPlan<Real> plan_rows(RowTransform transform, unsigned flags, Cells* scratch) const;
  FftwPlan<Real> plan_columns(unsigned flags, Cells* scratch) const;
  void run_apart(const PlaneJob<Real>& job, Cells* workspace) const;
  void run_together(const PlaneJob<Real>& job, Index plane, Cells* workspace) const;
  void load(const PlaneJob<Real>& job, Index plane, const ThreadWorkspace& room,
            const Range& rows) const;
  void transform_row(Real* from, Cells* to, Cells* aligned) const;
  void transform_columns(const ThreadWorkspace& room, const Range& columns) const;
  void store(const PlaneJob<Real>& job, Index plane, const Cells* from, const Range& columns) const;
  void store_rows(const PlaneJob<Real>& job, Index plane, const ThreadWorkspace& room,
                  const Range& rows) const;

  Host exec_;
  PlaneSteps steps_;
  Index threads_;
  Index row_pitch_;
  Index planes_at_once_ = 1;
  FftwPlan<Real> load_rows_;
  FftwPlan<Real> store_rows_;
  FftwPlan<Real> columns_;  ///< columns_at_once of them in place, or one line
};

// ---------------------------------------------------------------- planning

template <class Real>
FftwPlan<Real> HostPlanes<Real>::plan_rows(RowTransform transform, unsigned flags,
                                           Cells* scratch) const {
  const int num = line_size(steps_.line_length);
  auto* plane = reinterpret_cast<Complex*>(scratch);
  auto* cells = reinterpret_cast<Complex*>(scratch + row_size());
  const LinesShape line{num, 1, 1, num};
  switch (transform) {
    case RowTransform::none: break;
    case RowTransform::real_to_complex:
      return FftwPlan<Real>(
          Fftw<Real>::plan_real_to_complex(num, reinterpret_cast<Real*>(cells), plane, flags));
    case RowTransform::complex_to_real:
      return FftwPlan<Real>(
          Fftw<Real>::plan_complex_to_real(num, plane, reinterpret_cast<Real*>(cells), flags));
    case RowTransform::forward:
      return FftwPlan<Real>(Fftw<Real>::plan_complex(line, {cells, plane}, FFTW_FORWARD, flags));
    case RowTransform::backward:
      return FftwPlan<Real>(Fftw<Real>::plan_complex(line, {plane, cells}, FFTW_BACKWARD, flags));
  }
  return {};
}

/// One plan for all columns: their bits do not depend on how many of them a rank or a thread has.
template <class Real>
FftwPlan<Real> HostPlanes<Real>::plan_columns(unsigned flags, Cells* scratch) const {
  const int num = line_size(steps_.num_rows);
  const int sign = steps_.columns == ColumnTransform::forward ? FFTW_FORWARD : FFTW_BACKWARD;
  auto* const from = reinterpret_cast<Complex*>(scratch);
  if (transforms_in_place()) {
    const LinesShape columns{num, static_cast<int>(columns_at_once), line_size(row_pitch_), 1};
    return FftwPlan<Real>(Fftw<Real>::plan_complex(columns, {from, from}, sign, flags));
  }
  auto* const to = reinterpret_cast<Complex*>(scratch + column_size());
  return FftwPlan<Real>(
      Fftw<Real>::plan_complex({num, 1, 1, num}, {from, to}, sign, flags | FFTW_DESTROY_INPUT));
}

template <class Real>
void HostPlanes<Real>::plan() {
  if (steps_.num_rows == 0 || steps_.num_columns == 0) return;
  const unsigned flags = steps_.measure ? FFTW_MEASURE : FFTW_ESTIMATE;
  const bool has_columns = steps_.columns != ColumnTransform::none;
  const Index size = std::max({2 * row_size(), 2 * row_pitch_, 2 * column_size(),
                               has_columns && transforms_in_place() ? plane_size() : 0});
  Buffer<Cells> scratch(exec_, size, "planning of Fourier transforms");
  load_rows_ = plan_rows(steps_.load_rows, flags, scratch.data());
  store_rows_ = plan_rows(steps_.store_rows, flags | FFTW_DESTROY_INPUT, scratch.data());
  if (has_columns) columns_ = plan_columns(flags, scratch.data());
}

// ---------------------------------------------------------------- running

/// Columns are transformed by whole cache lines. What lies behind the last column must be numbers,
/// too, or it could raise floating-point exceptions; zeros stay zeros.
template <class Real>
void HostPlanes<Real>::clear_padding(Cells* workspace) const {
  const Index blocks = (steps_.num_columns + columns_at_once - 1) / columns_at_once;
  const Index padding = blocks * columns_at_once - steps_.num_columns;
  for (Index row = 0; row < planes_at_once_ * steps_.num_rows; ++row)
    std::fill_n(workspace + row * row_pitch_ + steps_.num_columns, padding, Cells{});
}

/// Each thread takes plane after plane. Storing may overwrite what planes up to the same one were
/// loaded from: these were taken before, by threads that load them without waiting for anyone.
template <class Real>
void HostPlanes<Real>::run_apart(const PlaneJob<Real>& job, Cells* workspace) const {
  std::atomic<Index> next{0};
  std::vector<std::atomic<bool>> is_loaded(static_cast<std::size_t>(job.num_planes));
  const auto caller = std::this_thread::get_id();
  run_tasks(exec_, std::min(threads_, job.num_planes), [&](Index thread) {
    const ThreadWorkspace room = room_of(workspace, thread, thread);
    Index loaded = 0;  // all planes before this one are
    for (Index plane = next++; plane < job.num_planes; plane = next++) {
      load(job, job.first_plane + plane, room, {0, steps_.num_rows});
      is_loaded[static_cast<std::size_t>(plane)] = true;
      transform_columns(room, {0, steps_.num_columns});
      for (; loaded < plane; ++loaded) {
        while (!is_loaded[static_cast<std::size_t>(loaded)]) std::this_thread::yield();
      }
      if (steps_.store_rows == RowTransform::none) {
        store(job, job.first_plane + plane, room.plane, {0, steps_.num_columns});
      } else {
        store_rows(job, job.first_plane + plane, room, {0, steps_.num_rows});
      }
      if (job.between != nullptr && std::this_thread::get_id() == caller) (*job.between)();
    }
  });
}

/// All threads work on one plane.
template <class Real>
void HostPlanes<Real>::run_together(const PlaneJob<Real>& job, Index plane,
                                    Cells* workspace) const {
  const auto on_parts = [&](const auto& work) {
    run_tasks(exec_, threads_, [&](Index part) { work(room_of(workspace, 0, part), part); });
  };
  const auto rows_of = [&](Index part) { return part_of(steps_.num_rows, part, threads_); };
  on_parts([&](const ThreadWorkspace& room, Index part) { load(job, plane, room, rows_of(part)); });
  const Index blocks = (steps_.num_columns + columns_at_once - 1) / columns_at_once;
  on_parts([&](const ThreadWorkspace& room, Index part) {
    const Range block = part_of(blocks, part, threads_);
    const Range columns = {block.first * columns_at_once,
                           std::min(block.last * columns_at_once, steps_.num_columns)};
    transform_columns(room, columns);
    if (steps_.store_rows == RowTransform::none) store(job, plane, room.plane, columns);
  });
  if (steps_.store_rows == RowTransform::none) return;
  on_parts([&](const ThreadWorkspace& room, Index part) {
    store_rows(job, plane, room, rows_of(part));
  });
}

/// One plan for all rows, so that a field's bits do not depend on where it lies.
template <class Real>
void HostPlanes<Real>::transform_row(Real* from, Cells* to, Cells* aligned) const {
  const bool is_real = steps_.load_rows == RowTransform::real_to_complex;
  if (!Fftw<Real>::is_aligned(from)) {
    auto* const copy = reinterpret_cast<Real*>(aligned);
    std::copy_n(from, steps_.line_length * (is_real ? 1 : 2), copy);
    from = copy;
  }
  auto* const row = reinterpret_cast<Complex*>(to);
  if (is_real) return load_rows_.run(from, row);
  load_rows_.run(reinterpret_cast<Complex*>(from), row);
}

template <class Real>
void HostPlanes<Real>::load(const PlaneJob<Real>& job, Index plane, const ThreadWorkspace& room,
                            const Range& rows) const {
  for (const PlanePiece& piece : job.load) {
    const Index first = std::max(rows.first, piece.first_row);
    const Index last = std::min(rows.last, piece.first_row + piece.num_rows);
    for (Index row = first; row < last; ++row) {
      const Index at = piece.offset(plane, row);
      Cells* const target = room.plane + row * row_pitch_ + piece.first_column;
      if (steps_.load_rows == RowTransform::real_to_complex) {
        transform_row(static_cast<Real*>(piece.data) + at, target, room.row);
      } else if (steps_.load_rows == RowTransform::forward) {
        transform_row(static_cast<Real*>(piece.data) + 2 * at, target, room.row);
      } else {
        std::copy_n(static_cast<const Cells*>(piece.data) + at, piece.num_columns, target);
      }
    }
  }
}

template <class Real>
void HostPlanes<Real>::transform_columns(const ThreadWorkspace& room, const Range& columns) const {
  if (steps_.columns == ColumnTransform::none) return;
  const Lines<Real> before{room.columns, column_size()};
  const Lines<Real> after{before[columns_at_once], column_size()};
  for (Index first = columns.first; first < columns.last; first += columns_at_once) {
    const Lines<Real> rows{room.plane + first, row_pitch_};
    if (transforms_in_place()) {
      auto* const block = reinterpret_cast<Complex*>(rows.data);
      columns_.run(block, block);
      continue;
    }
    take_columns<columns_at_once>(rows, steps_.num_rows, before);
    for (Index column = 0; column < columns_at_once; ++column)
      columns_.run(reinterpret_cast<Complex*>(before[column]),
                   reinterpret_cast<Complex*>(after[column]));
    put_columns<columns_at_once>(after, rows, steps_.num_rows);
  }
}

template <class Real>
void HostPlanes<Real>::store(const PlaneJob<Real>& job, Index plane, const Cells* from,
                             const Range& columns) const {
  for (const PlanePiece& piece : job.store) {
    const Index first = std::max(columns.first, piece.first_column);
    const Index num = 2 * (std::min(columns.last, piece.first_column + piece.num_columns) - first);
    if (num <= 0) continue;
    for (Index row = 0; row < piece.num_rows; ++row) {
      Cells* const to = static_cast<Cells*>(piece.data) +
                        piece.offset(plane, piece.first_row + row) + (first - piece.first_column);
      const Cells* const source = from + (piece.first_row + row) * row_pitch_ + first;
      const auto copy = job.is_large ? stream_scaled<Real> : copy_scaled<Real>;
      copy(reinterpret_cast<Real*>(to), reinterpret_cast<const Real*>(source), num, job.factor);
    }
  }
  if (job.is_large) finish_streaming();
}

template <class Real>
void HostPlanes<Real>::store_rows(const PlaneJob<Real>& job, Index plane,
                                  const ThreadWorkspace& room, const Range& rows) const {
  const PlanePiece& piece = job.store[0];
  const Index reals = steps_.store_rows == RowTransform::complex_to_real ? 1 : 2;  // of a cell
  for (Index row = rows.first; row < rows.last; ++row) {
    auto* const source = reinterpret_cast<Complex*>(room.plane + row * row_pitch_);
    Real* const cells = static_cast<Real*>(piece.data) + reals * piece.offset(plane, row);
    Real* const to = Fftw<Real>::is_aligned(cells) ? cells : reinterpret_cast<Real*>(room.row);
    if (reals == 1) {
      store_rows_.run(source, to);
    } else {
      store_rows_.run(source, reinterpret_cast<Complex*>(to));
    }
    if (to != cells) std::copy_n(to, reals * steps_.line_length, cells);
  }
}

}  // namespace

template <class Real>
PlanePlans<Real> plan_planes(const Host& exec, const std::vector<PlaneSteps>& steps) {
  std::vector<std::shared_ptr<HostPlanes<Real>>> plans;
  plans.reserve(steps.size());
  for (const PlaneSteps& each : steps)
    plans.push_back(std::make_shared<HostPlanes<Real>>(exec, each));
  const std::lock_guard lock(fftw_planner());
  std::optional<WithoutWisdom<Real>> without_wisdom;
  if (!steps.empty() && !steps.front().measure) without_wisdom.emplace();
  const PlansOfOneThread<Real> of_one_thread;
  for (const auto& plan : plans) plan->plan();
  return {plans.begin(), plans.end()};
}
template PlanePlans<float> plan_planes(const Host&, const std::vector<PlaneSteps>&);
template PlanePlans<double> plan_planes(const Host&, const std::vector<PlaneSteps>&);

}  // namespace zhalo::kernels
