// Plans of transforms in one to three dimensions, carried out by FFTW.
#include <cufft.h>
#include <fftw3.h>
#include <emulated_launch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tests/device/runtime/calls.hpp"
#include "tests/device/runtime/devices.hpp"
#include "tests/device/runtime/memory.hpp"
#include "tests/device/runtime/report.hpp"

namespace zhalo::emulated {
namespace {

struct Plan {
  cufftType type = CUFFT_Z2Z;
  std::vector<fftw_iodim64> axes;  ///< of one transform
  fftw_iodim64 lines{};

  int rank() const { return static_cast<int>(axes.size()); }

  std::size_t work_bytes = 0;
  void* work = nullptr;
  cudaStream_t stream = nullptr;
  int device = 0;
  std::int64_t bytes = 0;  ///< that one execution reads and writes
  bool is_made = false;
};

/// What all transforms of a plan read and write, in bytes: each number once each way along each
/// axis.
std::int64_t bytes_of(cufftType type, int rank, const long long* length, long long num) {
  const bool is_float = type == CUFFT_C2C || type == CUFFT_R2C || type == CUFFT_C2R;
  const bool is_complex = type == CUFFT_C2C || type == CUFFT_Z2Z;
  const long long last = length[rank - 1];
  long long lines = num;
  for (int axis = 0; axis + 1 < rank; ++axis) lines *= length[axis];
  const long long modes = is_complex ? last : last / 2 + 1;
  // A pass for each axis, all but one from modes to modes.
  const long long reals = (is_complex ? 2 * last : last) + 2 * modes + 4 * modes * (rank - 1);
  return lines * reals * (is_float ? 4 : 8);
}

/// In one and two dimensions little; in three as much as the modes.
std::size_t work_bytes_of(cufftType type, int rank, const long long* length, long long num) {
  if (rank < 3) return static_cast<std::size_t>(*length) * 16 + 1000;
  const bool is_float = type == CUFFT_C2C || type == CUFFT_R2C || type == CUFFT_C2R;
  const bool is_complex = type == CUFFT_C2C || type == CUFFT_Z2Z;
  const long long modes = is_complex ? length[2] : length[2] / 2 + 1;
  return static_cast<std::size_t>(num * length[0] * length[1] * modes * (is_float ? 8 : 16));
}

struct Plans {
  std::mutex mutex;
  std::map<cufftHandle, Plan> all;
  cufftHandle last = 0;
};

Plans& plans() {
  static auto& made = *new Plans;  // never destroyed: a program may keep plans to its end
  return made;
}

Plan* find(cufftHandle handle) {
  const auto found = plans().all.find(handle);
  return found == plans().all.end() ? nullptr : &found->second;
}

template <class Change>
cufftResult change(cufftHandle handle, const Change& to) {
  const std::lock_guard lock(plans().mutex);
  Plan* plan = find(handle);
  if (plan == nullptr) return CUFFT_INVALID_PLAN;
  to(*plan);
  return CUFFT_SUCCESS;
}

constexpr unsigned flags = FFTW_ESTIMATE | FFTW_UNALIGNED;

/// FFTW's names in one precision.
struct Single {
  using Complex = fftwf_complex;
  static constexpr auto complex = fftwf_plan_guru64_dft;
  static constexpr auto to_complex = fftwf_plan_guru64_dft_r2c;
  static constexpr auto to_real = fftwf_plan_guru64_dft_c2r;
  static constexpr auto execute = fftwf_execute;
  static constexpr auto destroy = fftwf_destroy_plan;
};
struct Double {
  using Complex = fftw_complex;
  static constexpr auto complex = fftw_plan_guru64_dft;
  static constexpr auto to_complex = fftw_plan_guru64_dft_r2c;
  static constexpr auto to_real = fftw_plan_guru64_dft_c2r;
  static constexpr auto execute = fftw_execute;
  static constexpr auto destroy = fftw_destroy_plan;
};

template <class Fftw, class FftwPlan>
void run_and_destroy(FftwPlan plan) {
  if (plan == nullptr) stop("FFTW has no plan for this transform");
  Fftw::execute(plan);
  Fftw::destroy(plan);
}

/// cuFFT refuses numbers that are not aligned as whole complex numbers, reals too.
bool are_aligned(cufftType type, const void* in, const void* out) {
  const bool is_single = type == CUFFT_C2C || type == CUFFT_R2C || type == CUFFT_C2R;
  const std::uintptr_t size = is_single ? sizeof(cufftComplex) : sizeof(cufftDoubleComplex);
  return reinterpret_cast<std::uintptr_t>(in) % size == 0 &&
         reinterpret_cast<std::uintptr_t>(out) % size == 0;
}

/// Queues what `run` does with the plan as it is now.
template <class Run>
cufftResult execute(cufftHandle handle, cufftType type, const void* in, void* out, const Run& run) {
  std::optional<Plan> plan;
  change(handle, [&](const Plan& found) { plan = found; });
  if (!plan || !plan->is_made || plan->type != type) return CUFFT_INVALID_PLAN;
  if (plan->device != current_device())
    stop("a plan of cuFFT for device " + std::to_string(plan->device) +
         " is executed while device " + std::to_string(current_device()) + " is current");
  if (plan->work == nullptr) stop("a plan of cuFFT without a work area is executed");
  if (!are_aligned(type, in, out)) return CUFFT_INVALID_VALUE;
  memory_of(plan->device).check_range(plan->work, plan->work_bytes, "the work area of cuFFT");
  count(Event::transformed_bytes, plan->bytes);
  const auto work = [made = *plan, run] {
    std::memset(made.work, fresh_byte, made.work_bytes);
    run(made);
  };
  const cudaError_t error = queue_algorithm({"cuFFT", plan->stream, work},
                                            {ArgumentBytes::of(in), ArgumentBytes::of(out)});
  return error == cudaSuccess ? CUFFT_SUCCESS : CUFFT_EXEC_FAILED;
}

template <class Fftw, class Number>
cufftResult execute_complex(cufftHandle handle, cufftType type, Number* in, Number* out, int sign) {
  return execute(handle, type, in, out, [=](const Plan& plan) {
    run_and_destroy<Fftw>(Fftw::complex(plan.rank(), plan.axes.data(), 1, &plan.lines,
                                        reinterpret_cast<typename Fftw::Complex*>(in),
                                        reinterpret_cast<typename Fftw::Complex*>(out), sign,
                                        flags));
  });
}

template <class Fftw, class Real, class Number>
cufftResult execute_forward(cufftHandle handle, cufftType type, Real* in, Number* out) {
  return execute(handle, type, in, out, [=](const Plan& plan) {
    run_and_destroy<Fftw>(Fftw::to_complex(plan.rank(), plan.axes.data(), 1, &plan.lines, in,
                                           reinterpret_cast<typename Fftw::Complex*>(out), flags));
  });
}

/// cuFFT may take one of the modes k and -k for both, or anything else where they are not
/// conjugates of each other. Here the sum of real and imaginary part of what is too much is added
/// to both.
template <class Fftw>
void expect_conjugates(const Plan& plan, typename Fftw::Complex* modes) {
  if (plan.rank() < 3) return;
  const fftw_iodim64 &x = plan.axes[0], &y = plan.axes[1], &z = plan.axes[2];
  const auto expect = [&](std::ptrdiff_t offset, std::ptrdiff_t mirror) {
    auto* const a = modes[offset];
    auto* const b = modes[mirror];
    const auto too_much = (a[0] - b[0]) + (a[1] + b[1]);
    for (auto* const mode : {a, b}) mode[0] += too_much;
  };
  for (std::ptrdiff_t k = 0; k <= z.n / 2; k += std::max<std::ptrdiff_t>(z.n / 2, 1)) {
    if (k > 0 && z.n % 2 != 0) break;
    for (std::ptrdiff_t i = 0; i < x.n; ++i)
      for (std::ptrdiff_t j = 0; j < y.n; ++j)
        expect(i * x.is + j * y.is + k * z.is,
               (x.n - i) % x.n * x.is + (y.n - j) % y.n * y.is + k * z.is);
  }
}

/// cuFFT may overwrite its input, as FFTW does here.
template <class Fftw, class Real, class Number>
cufftResult execute_inverse(cufftHandle handle, cufftType type, Number* in, Real* out) {
  return execute(handle, type, in, out, [=](const Plan& plan) {
    expect_conjugates<Fftw>(plan, reinterpret_cast<typename Fftw::Complex*>(in));
    run_and_destroy<Fftw>(Fftw::to_real(plan.rank(), plan.axes.data(), 1, &plan.lines,
                                        reinterpret_cast<typename Fftw::Complex*>(in), out,
                                        flags | FFTW_DESTROY_INPUT));
  });
}

}  // namespace
}  // namespace zhalo::emulated

using namespace zhalo::emulated;

cufftResult cufftCreate(cufftHandle* plan) {
  start_device();
  count(Event::make);
  const std::lock_guard lock(plans().mutex);
  *plan = ++plans().last;
  plans().all[*plan].device = current_device();
  return CUFFT_SUCCESS;
}

cufftResult cufftDestroy(cufftHandle plan) {
  start_device();
  const std::lock_guard lock(plans().mutex);
  return plans().all.erase(plan) > 0 ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}

cufftResult cufftSetAutoAllocation(cufftHandle plan, int automatic) {
  if (automatic != 0) return CUFFT_INVALID_VALUE;  // zhalo gives work areas itself
  return change(plan, [](Plan&) {});
}

cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream) {
  return change(plan, [&](Plan& found) { found.stream = stream; });
}

cufftResult cufftSetWorkArea(cufftHandle plan, void* area) {
  return change(plan, [&](Plan& found) { found.work = area; });
}

cufftResult cufftMakePlanMany64(cufftHandle plan, int rank, long long* length, long long* in_embed,
                                long long in_stride, long long in_distance, long long* out_embed,
                                long long out_stride, long long out_distance, cufftType type,
                                long long num, std::size_t* work_bytes) {
  if (rank < 1 || rank > 3 || in_embed == nullptr || out_embed == nullptr)
    return CUFFT_INVALID_VALUE;
  if (count_and_fail(Event::plan)) return CUFFT_ALLOC_FAILED;
  return change(plan, [&](Plan& found) {
    found.type = type;
    found.axes.assign(static_cast<std::size_t>(rank), {});
    long long in = in_stride;
    long long out = out_stride;
    for (int axis = rank; axis-- > 0;) {
      found.axes[static_cast<std::size_t>(axis)] = {length[axis], in, out};
      in *= in_embed[axis];
      out *= out_embed[axis];
    }
    found.lines = {num, in_distance, out_distance};
    found.bytes = bytes_of(type, rank, length, num);
    found.work_bytes = *work_bytes = work_bytes_of(type, rank, length, num);
    found.is_made = true;
  });
}

cufftResult cufftExecC2C(cufftHandle plan, cufftComplex* in, cufftComplex* out, int sign) {
  return execute_complex<Single>(plan, CUFFT_C2C, in, out, sign);
}
cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleComplex* out,
                         int sign) {
  return execute_complex<Double>(plan, CUFFT_Z2Z, in, out, sign);
}
cufftResult cufftExecR2C(cufftHandle plan, float* in, cufftComplex* out) {
  return execute_forward<Single>(plan, CUFFT_R2C, in, out);
}
cufftResult cufftExecD2Z(cufftHandle plan, double* in, cufftDoubleComplex* out) {
  return execute_forward<Double>(plan, CUFFT_D2Z, in, out);
}
cufftResult cufftExecC2R(cufftHandle plan, cufftComplex* in, float* out) {
  return execute_inverse<Single>(plan, CUFFT_C2R, in, out);
}
cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex* in, double* out) {
  return execute_inverse<Double>(plan, CUFFT_Z2D, in, out);
}
