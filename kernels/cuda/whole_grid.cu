// Whole grids on a device: cuFFT's own transforms in three dimensions.
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <type_traits>
#include <utility>

#include "kernels/cuda/fft.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/fft.hpp"

namespace zhalo::kernels {
namespace {

/// Of the first and the last modes along z makes each k the conjugate of -k, as those of reals are:
/// both become what they have in common. cuFFT asks for it, and promises nothing for others.
template <class Real>
struct MakeHermitian {
  ComplexPair<Real>* modes;
  Index num_x;
  Index num_y;
  Index num_z;  ///< modes

  __device__ void operator()(Index i) const {
    const Index of_plane = num_x * num_y;
    ComplexPair<Real>* const plane = modes + (i < of_plane ? 0 : num_z - 1);
    const Index line = i < of_plane ? i : i - of_plane;
    const Index x = line / num_y;
    const Index y = line - x * num_y;
    const Index mirror = (x > 0 ? num_x - x : 0) * num_y + (y > 0 ? num_y - y : 0);
    if (mirror < line) return;
    ComplexPair<Real>& a = plane[line * num_z];
    ComplexPair<Real>& b = plane[mirror * num_z];
    const Real re = Real(0.5) * (a.re + b.re);
    const Real im = Real(0.5) * (a.im - b.im);
    a = {re, im};
    b = {re, -im};
  }
};

template <class Real>
struct ScaleNumbers {
  ComplexPair<Real>* numbers;
  Real factor;

  __device__ void operator()(Index i) const { numbers[i] = factor * numbers[i]; }
};

constexpr Index area_alignment = 256;
constexpr Index aligned(Index bytes) {
  return (bytes + area_alignment - 1) / area_alignment * area_alignment;
}

template <class Real>
class CudaGrid final : public GridPlan<Real> {
 public:
  using Number = ComplexPair<Real>;

  CudaGrid(const Cuda& exec, const GridSteps& steps)
      : exec_(exec),
        steps_(steps),
        num_lines_(steps.num[0] * steps.num[1]),
        modes_row_(steps.is_real ? steps.num[2] / 2 + 1 : steps.num[2]) {
    const DeviceScope scope(exec_.device);
    for (const Index row : steps_.row_strides) {
      auto plan = exec_.pool->kept<KeptPlans>().get(exec_, lines_of(row));
      work_bytes_ = std::max(work_bytes_, static_cast<Index>(plan->work_bytes()));
      plans_.emplace(row, std::move(plan));
    }
  }

  bool suits(const GridJob<Real>& job) const override {
    return is_aligned_for_cufft<Real>(job.cells) && is_aligned_for_cufft<Real>(job.modes);
  }
  Index workspace_bytes() const override {
    return copied_bytes() + aligned(work_bytes_) + area_alignment;
  }

  /// A transform out of place keeps what it reads, but that from modes to reals: it reads a copy.
  void run(const GridJob<Real>& job, Span<std::byte> workspace) const override {
    const DeviceScope scope(exec_.device);
    const auto behind = static_cast<Index>(reinterpret_cast<std::uintptr_t>(workspace.data()) %
                                           static_cast<std::uintptr_t>(area_alignment));
    std::byte* const copy = workspace.data() + aligned(behind) - behind;
    const cufftHandle plan = plans_.at(job.row_stride)->with_work_area(copy + copied_bytes());
    auto* const modes = static_cast<Number*>(job.modes);
    if (!steps_.is_real) {
      auto* const cells = static_cast<Number*>(job.cells);
      if (steps_.is_forward) {
        execute(plan, cells, modes, CUFFT_FORWARD);
      } else {
        execute(plan, modes, cells, CUFFT_INVERSE);
      }
    } else if (steps_.is_forward) {
      execute(plan, static_cast<Real*>(job.cells), modes);
    } else {
      execute(plan, made_hermitian(modes, copy), static_cast<Real*>(job.cells));
    }
    scale(job);
  }

 private:
  bool has_copy() const { return steps_.is_real && !steps_.is_forward && steps_.keeps_modes; }
  Index modes_bytes() const { return num_lines_ * modes_row_ * static_cast<Index>(sizeof(Number)); }
  Index copied_bytes() const { return has_copy() ? aligned(modes_bytes()) : 0; }

  CufftLines lines_of(Index cells_row) const {
    constexpr bool is_float = std::is_same_v<Real, float>;
    CufftLines lines;
    lines.type = is_float ? CUFFT_C2C : CUFFT_Z2Z;
    if (steps_.is_real && steps_.is_forward) lines.type = is_float ? CUFFT_R2C : CUFFT_D2Z;
    if (steps_.is_real && !steps_.is_forward) lines.type = is_float ? CUFFT_C2R : CUFFT_Z2D;
    lines.num_planes = steps_.num[0];
    lines.num_rows = steps_.num[1];
    lines.length = steps_.num[2];
    lines.num = 1;
    lines.in = {1, cells_row, num_lines_ * cells_row};
    lines.out = {1, modes_row_, num_lines_ * modes_row_};
    if (!steps_.is_forward) std::swap(lines.in, lines.out);
    return lines;
  }

  Number* made_hermitian(Number* modes, std::byte* copy) const {
    auto* const made = has_copy() ? reinterpret_cast<Number*>(copy) : modes;
    if (has_copy())
      ZHALO_CUDA_TRY(cudaMemcpyAsync(made, modes, static_cast<std::size_t>(modes_bytes()),
                                     cudaMemcpyDefault, exec_.stream));
    for_each(exec_, 2 * num_lines_,
             MakeHermitian<Real>{made, steps_.num[0], steps_.num[1], modes_row_});
    return made;
  }

  void scale(const GridJob<Real>& job) const {
    if (job.factor == Real{1}) return;
    const Index row = steps_.is_forward ? modes_row_
                      : steps_.is_real  ? job.row_stride / 2
                                        : job.row_stride;
    auto* const result = static_cast<Number*>(steps_.is_forward ? job.modes : job.cells);
    for_each(exec_, num_lines_ * row, ScaleNumbers<Real>{result, job.factor});
  }

  Cuda exec_;
  GridSteps steps_;
  Index num_lines_;  ///< along z
  Index modes_row_;
  Index work_bytes_ = 0;
  std::map<Index, std::shared_ptr<const CufftPlan>> plans_;  ///< by the stride of rows of cells
};

}  // namespace

/// Not of rows of reals at an odd distance, which cuFFT does not take, not of grids that are planes
/// or lines, and not where cuFFT refuses: it takes no large grid with large prime factors.
template <class Real>
std::unique_ptr<GridPlan<Real>> plan_grid(const Cuda& exec, const GridSteps& steps) {
  const bool has_planes = std::all_of(steps.num, steps.num + 3, [](Index n) { return n > 1; });
  if (!has_planes || (steps.is_real && steps.num[2] % 2 != 0)) return nullptr;
  try {
    return std::make_unique<CudaGrid<Real>>(exec, steps);
  } catch (const RefusedPlan&) {
    return nullptr;
  } catch (const OutOfMemory&) {
    return nullptr;
  } catch (const DeviceError&) {
    // cuFFT may say so where memory is missing. A device that is broken fails at the next call.
    return nullptr;
  }
}
template std::unique_ptr<GridPlan<float>> plan_grid(const Cuda&, const GridSteps&);
template std::unique_ptr<GridPlan<double>> plan_grid(const Cuda&, const GridSteps&);

}  // namespace zhalo::kernels
