/// Fourier transforms by cuFFT: its plans, and planes that go through them.
#pragma once

#include <cufft.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "kernels/cuda/launch.cuh"
#include "kernels/fft.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/core/exec.hpp"
#include "zhalo/core/types.hpp"

namespace zhalo::kernels {

// cuFFT's plans and calls.

/// cuFFT makes no such plan.
class RefusedPlan : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

inline void check_cufft(cufftResult result, const char* call) {
  if (result == CUFFT_SUCCESS) return;
  if (result == CUFFT_ALLOC_FAILED)
    throw OutOfMemory(std::string("out of CUDA device memory in ") + call + "; use more devices");
  const std::string text = std::string("cuFFT failed with code ") +
                           std::to_string(static_cast<int>(result)) + " in " + call;
  if (result == CUFFT_INVALID_SIZE || result == CUFFT_NOT_SUPPORTED) throw RefusedPlan(text);
  throw DeviceError(text);
}

template <class Real>
struct ComplexPair {
  Real re;
  Real im;

  __device__ friend ComplexPair operator*(Real factor, const ComplexPair& number) {
    return {factor * number.re, factor * number.im};
  }
};

/// cuFFT wants complex numbers aligned as a whole, 8 or 16 bytes, and reals like them: what a
/// caller has may be aligned as reals.
template <class Real>
bool is_aligned_for_cufft(const void* numbers) {
  return reinterpret_cast<std::uintptr_t>(numbers) % sizeof(ComplexPair<Real>) == 0;
}

/// Where a line, and what follows it, is.
struct CufftStrides {
  Index stride = 1;    ///< in a line
  Index row = 0;       ///< from line to line of a plane, for transforms in more dimensions
  Index distance = 0;  ///< from line to line, from plane to plane, or from grid to grid
};

/// Lines of a call of cuFFT; or planes of such lines, in two dimensions; or grids of such planes,
/// in three.
struct CufftLines {
  cufftType type = CUFFT_Z2Z;
  Index length = 0;
  CufftStrides in;
  CufftStrides out;
  Index num = 0;
  Index num_rows = 0;    ///< of a plane; 0: in one dimension
  Index num_planes = 0;  ///< of a grid, one behind the other; 0: in fewer dimensions

  friend bool operator<(const CufftLines& a, const CufftLines& b) {
    const auto strides = [](const CufftStrides& p) {
      return std::tie(p.stride, p.row, p.distance);
    };
    const auto all = [&](const CufftLines& l) {
      return std::tuple(l.type, l.length, l.num, l.num_rows, l.num_planes, strides(l.in),
                        strides(l.out));
    };
    return all(a) < all(b);
  }
};

/// A plan of cuFFT's whose work area is given to it.
class CufftPlan {
 public:
  CufftPlan(const Cuda& exec, const CufftLines& lines) : device_(exec.device) {
    const DeviceScope scope(device_);
    check_cufft(cufftCreate(&handle_), "cufftCreate");
    const int rank = lines.num_planes > 0 ? 3 : lines.num_rows > 0 ? 2 : 1;
    long long length[] = {lines.num_planes, lines.num_rows, lines.length};
    const auto embed = [&](Index row) { return rank > 1 ? row : lines.length; };
    long long in_embed[] = {lines.num_planes, lines.num_rows, embed(lines.in.row)};
    long long out_embed[] = {lines.num_planes, lines.num_rows, embed(lines.out.row)};
    const int skip = 3 - rank;
    const auto make = [&] {
      check_cufft(cufftSetAutoAllocation(handle_, 0), "cufftSetAutoAllocation");
      check_cufft(
          cufftMakePlanMany64(handle_, rank, length + skip, in_embed + skip, lines.in.stride,
                              lines.in.distance, out_embed + skip, lines.out.stride,
                              lines.out.distance, lines.type, lines.num, &work_bytes_),
          "cufftMakePlanMany64");
      check_cufft(cufftSetStream(handle_, exec.stream), "cufftSetStream");
    };
    try {
      make();
    } catch (...) {
      cufftDestroy(handle_);
      throw;
    }
  }
  /// It must end on its own device: another one that is current would be started, and asked for
  /// what it does not have.
  ~CufftPlan() {
    try {
      const DeviceScope scope(device_);
      cufftDestroy(handle_);
    } catch (const Error&) {
      static_cast<void>(cudaGetLastError());  // the driver has shut down, and the plan with it
    }
  }
  CufftPlan(const CufftPlan&) = delete;
  CufftPlan& operator=(const CufftPlan&) = delete;

  std::size_t work_bytes() const { return work_bytes_; }
  cufftHandle with_work_area(void* area) const {
    check_cufft(cufftSetWorkArea(handle_, area), "cufftSetWorkArea");
    return handle_;
  }

 private:
  int device_ = 0;
  cufftHandle handle_ = 0;
  std::size_t work_bytes_ = 0;
};

/// The plans of a context, which live as long as its memory: to make one takes milliseconds and
/// memory of the device. Beyond max_plans the oldest is forgotten.
class KeptPlans {
 public:
  std::shared_ptr<const CufftPlan> get(const Cuda& exec, const CufftLines& lines) {
    const auto found = plans_.find(lines);
    if (found != plans_.end()) return found->second;
    const auto made = make(exec, lines);
    if (order_.size() == max_plans) {
      plans_.erase(order_.front());
      order_.pop_front();
    }
    plans_.emplace(lines, made);
    order_.push_back(lines);
    return made;
  }

 private:
  /// cuFFT takes memory beside the pool, which may hold all that is left. It does not always say
  /// that this was missing.
  static std::shared_ptr<const CufftPlan> make(const Cuda& exec, const CufftLines& lines) {
    try {
      return std::make_shared<const CufftPlan>(exec, lines);
    } catch (const Error&) {
      exec.pool->release_unused();
      return std::make_shared<const CufftPlan>(exec, lines);
    }
  }

  static constexpr std::size_t max_plans = 64;
  std::map<CufftLines, std::shared_ptr<const CufftPlan>> plans_;
  std::deque<CufftLines> order_;
};

inline void execute(cufftHandle plan, float* in, ComplexPair<float>* out) {
  check_cufft(cufftExecR2C(plan, in, reinterpret_cast<cufftComplex*>(out)), "cufftExecR2C");
}
inline void execute(cufftHandle plan, double* in, ComplexPair<double>* out) {
  check_cufft(cufftExecD2Z(plan, in, reinterpret_cast<cufftDoubleComplex*>(out)), "cufftExecD2Z");
}
inline void execute(cufftHandle plan, ComplexPair<float>* in, float* out) {
  check_cufft(cufftExecC2R(plan, reinterpret_cast<cufftComplex*>(in), out), "cufftExecC2R");
}
inline void execute(cufftHandle plan, ComplexPair<double>* in, double* out) {
  check_cufft(cufftExecZ2D(plan, reinterpret_cast<cufftDoubleComplex*>(in), out), "cufftExecZ2D");
}
inline void execute(cufftHandle plan, ComplexPair<float>* in, ComplexPair<float>* out, int sign) {
  check_cufft(cufftExecC2C(plan, reinterpret_cast<cufftComplex*>(in),
                           reinterpret_cast<cufftComplex*>(out), sign),
              "cufftExecC2C");
}
inline void execute(cufftHandle plan, ComplexPair<double>* in, ComplexPair<double>* out, int sign) {
  check_cufft(cufftExecZ2Z(plan, reinterpret_cast<cufftDoubleComplex*>(in),
                           reinterpret_cast<cufftDoubleComplex*>(out), sign),
              "cufftExecZ2Z");
}

// Planes of lines on a device, and their workspace.

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
