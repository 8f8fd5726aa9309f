/// Runs a functor of the user for many elements, on the host or on a device. This is the only
/// public header with device code.
///
/// If nvcc compiles a file, its functors can run on host and device. With any other compiler they
/// run on the host only.
#pragma once

#include <algorithm>
#include <memory>
#include <type_traits>

#include "zhalo/core/error.hpp"
#include "zhalo/core/exec.hpp"
#include "zhalo/core/types.hpp"

namespace zhalo {

/// A callable that takes a range [first, last). It refers to an object, which must outlive it.
struct RangeFunction {
  const void* object = nullptr;
  void (*call)(const void* object, Index first, Index last) = nullptr;
};
/// Calls the function for consecutive blocks of [0, num), spread over the threads of the host. If
/// calls throw, it rethrows the first exception.
void run_blocks(const Host& exec, Index num, Index block, const RangeFunction& function);

/// While the result lives, the Exec's device is this thread's current one. The caller's own one is
/// restored afterwards, if it has been started: restoring would start it.
[[nodiscard]] std::shared_ptr<const void> use_device(const Exec& exec);

// Code that differs between compilers is in separate namespaces, because a program may contain
// files of both kinds.
#if defined(__CUDACC__)
inline namespace compiled_for_devices {

/// Whether the functors of this file can run on a device.
inline constexpr bool functors_run_on_devices = true;

template <class F>
__global__ void run_functor(Index num, F f) {
  const Index step = Index{gridDim.x} * blockDim.x;
  for (Index i = Index{blockIdx.x} * blockDim.x + threadIdx.x; i < num; i += step) f(i);
}

template <class F>
void for_each_on(const Cuda& exec, Index num, F f) {
  constexpr Index threads = 128;
  constexpr Index max_blocks = Index{1} << 20;
  const auto device = use_device(exec);
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(std::min(max_blocks, (num + threads - 1) / threads)));
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.stream = exec.stream;
  cudaError_t status = cudaLaunchKernelEx(&config, run_functor<F>, num, f);
  if (status == cudaErrorMemoryAllocation) {  // the code is loaded now, beside the pool
    static_cast<void>(cudaGetLastError());
    exec.pool->release_unused();
    status = cudaLaunchKernelEx(&config, run_functor<F>, num, f);
  }
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // clears the error, or the next check reports it
  throw DeviceError(std::string("a functor could not be started on the device: ") +
                    cudaGetErrorString(status));
}

}  // namespace compiled_for_devices
#else
inline namespace compiled_for_host {

inline constexpr bool functors_run_on_devices = false;

template <class F>
void for_each_on(const Cuda&, Index, F) {
  throw DeviceError(
      "the functor was compiled for the host only and cannot run on a device; compile its file "
      "with nvcc, or choose the host");
}

}  // namespace compiled_for_host
#endif

template <class F>
void for_each_on(const Host& exec, Index num, F f) {
  const Index block = std::clamp<Index>(num / 64, 1, 512);
  const auto run = [](const void* object, Index first, Index last) {
    const F& functor = *static_cast<const F*>(object);
    for (Index i = first; i < last; ++i) functor(i);
  };
  run_blocks(exec, num, block, {&f, run});
}

/// Runs f(i) for every i in [0, num), in any order and concurrently.
///
/// `f` is copied to where it runs. It must be trivially copyable, its operator() must be const and
/// marked ZHALO_HD, and its pointers must point to memory of the Exec. On a device the work is
/// queued on the Exec's stream. Throws DeviceError if the Exec is a device and nvcc has not
/// compiled this file.
template <class F>
void for_each(const Exec& exec, Index num, F f) {
  static_assert(std::is_trivially_copyable_v<F>,
                "a functor is copied to the device: it may hold values and pointers only");
  if (num == 0) return;
  std::visit([&](const auto& backend) { for_each_on(backend, num, f); }, exec);
}

}  // namespace zhalo
