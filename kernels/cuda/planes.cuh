/// Planes of lines on a device, and their rooms in its memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "kernels/cuda/cufft.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/fft.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::kernels {

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

inline constexpr Index max_plane_elements = Index{1} << 31;
inline constexpr Index plane_alignment = 256;

template <class Real>
class CudaPlanes final : public PlanePlan<Real> {
 public:
  using Number = ComplexPair<Real>;

  CudaPlanes(const Cuda& exec, const PlaneSteps& steps) : exec_(exec), steps_(steps) {
    const Index plane = std::max<Index>(steps.num_rows * steps.num_columns, 1);
    if (2 * plane >= max_plane_elements) {
      throw InputError("planes of " + std::to_string(steps.num_rows) + " x " +
                       std::to_string(steps.num_columns) +
                       " modes are too large for a device (fewer than 2^30 modes); use pencils on "
                       "several ranks, or a smaller grid");
    }
    const Index fit = std::min(steps.room_bytes / (plane * static_cast<Index>(sizeof(Number))),
                               max_plane_elements / (2 * plane) - 1);
    const Index fitting = std::max<Index>(fit, 1);
    const Index max_planes = std::max<Index>(steps.max_planes(), 1);
    const Index turns = (max_planes + fitting - 1) / fitting;
    planes_at_once_ = (max_planes + turns - 1) / turns;
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
                            3 * plane_alignment;
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
    const Index per_line = plane_alignment / static_cast<Index>(sizeof(Number));
    return (elements + per_line - 1) / per_line * per_line;
  }
  Workspace workspace_in(Span<std::byte> workspace) const {
    const auto address = reinterpret_cast<std::uintptr_t>(workspace.data());
    auto* const first = reinterpret_cast<Number*>((address + plane_alignment - 1) /
                                                  plane_alignment * plane_alignment);
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
  static bool is_aligned(const void* numbers) { return is_aligned_for_cufft<Real>(numbers); }
  // Cells that are not, and rows of reals at an odd distance, go through aligned rows, as far apart
  // as rows of modes.
  bool suits_cufft(const Real* cells, const PlanePiece& piece) const {
    return is_aligned(cells) && (!is_real() || piece.row_stride % 2 == 0);
  }
  Index even_distance() const { return 2 * steps_.num_columns; }  ///< of these, in reals
  Index aligned_distance() const { return is_real() ? even_distance() : steps_.num_columns; }

  CufftLines row_lines(Index planes, Index distance) const;
  CufftLines column_lines(Index planes) const;
  CufftLines plane_lines(Index planes, const PlanePiece& from, const PlanePiece& to) const;
  bool is_whole(Span<const PlanePiece> pieces) const;
  bool transform_planes(const PlaneJob<Real>& job, const Workspace& workspace) const;
  /// Where the columns are that were transformed straight from a piece.
  enum class Columns { untouched, in_room, stored };
  Columns transform_columns(const PlaneJob<Real>& job, const Workspace& workspace) const;
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

}  // namespace zhalo::kernels
