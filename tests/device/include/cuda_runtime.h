/// The part of CUDA's C++ that zhalo's kernels are written in, for a compiler of plain C++. It is
/// included before everything else, as nvcc does with its own.
#pragma once

#include <cuda_runtime_api.h>
#include <math.h>

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#include "emulated_lane.hpp"
#include "emulated_launch.hpp"

#define __CUDACC__ 1
#define __CUDA_ARCH__ 900
#define __CUDA_ARCH_LIST__ 900

#define __host__
#define __device__
#define __global__
#define __launch_bounds__(...)
// A block runs on one thread of the host: its memory is that thread's. Only for memory whose size
// is given with the launch (extern), so that it can be fresh for each block; the rest does not
// compile.
#define __shared__ __thread

// ---------------------------------------------------------------- launches

/// Queues a kernel; its arguments are copied. Those that cannot be right stop the program.
template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  using zhalo::emulated::ArgumentBytes;
  const std::tuple<Parameters...> values(std::forward<Arguments>(arguments)...);
  const zhalo::emulated::LaunchRequest request{*config,
                                               zhalo::emulated::name_of_parameters<Parameters...>(),
                                               [kernel, values] { std::apply(kernel, values); }};
  return std::apply(
      [&](const Parameters&... each) {
        return zhalo::emulated::launch(request, {ArgumentBytes::of(each)...});
      },
      values);
}

template <class Kernel>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, Kernel) {
  zhalo::emulated::start_device();
  attributes->binaryVersion = 90;
  return cudaSuccess;
}

// ---------------------------------------------------------------- warps

inline unsigned __ballot_sync(unsigned mask, int bit) {
  return static_cast<unsigned>(zhalo::emulated::ballot(mask, bit != 0));
}

inline int __any_sync(unsigned mask, int bit) { return zhalo::emulated::any(mask, bit != 0); }

inline unsigned __reduce_or_sync(unsigned mask, unsigned value) {
  return static_cast<unsigned>(zhalo::emulated::reduce_or(mask, value));
}

inline unsigned __reduce_add_sync(unsigned mask, unsigned value) {
  return static_cast<unsigned>(zhalo::emulated::reduce_add(mask, value));
}

namespace zhalo::emulated {

template <class T, class Shuffle>
T shuffled(T value, const Shuffle& shuffle) {
  static_assert(std::is_arithmetic_v<T> && sizeof(T) <= sizeof(std::uint64_t));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  bits = shuffle(bits);
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace zhalo::emulated

template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask) {
  return zhalo::emulated::shuffled(value, [&](std::uint64_t bits) {
    return zhalo::emulated::shuffle_xor(mask, bits, static_cast<unsigned>(lane_mask));
  });
}

template <class T>
T __shfl_sync(unsigned mask, T value, int lane) {
  return zhalo::emulated::shuffled(value, [&](std::uint64_t bits) {
    return zhalo::emulated::shuffle_from(mask, bits, static_cast<unsigned>(lane));
  });
}

inline void __syncwarp(unsigned mask = 0xffffffffU) { zhalo::emulated::sync_warp(mask); }

// ---------------------------------------------------------------- arithmetic

inline int __popc(unsigned x) { return std::popcount(x); }
inline int __popcll(unsigned long long x) { return std::popcount(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline int __clzll(long long x) { return std::countl_zero(static_cast<unsigned long long>(x)); }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }

// ---------------------------------------------------------------- atomics

// Relaxed: on a device they order no other memory either. They return what was there.

template <class T>
T atomicCAS(T* at, std::type_identity_t<T> expected, std::type_identity_t<T> desired) {
  zhalo::emulated::count_atomic(at);
  std::atomic_ref<T>(*at).compare_exchange_strong(expected, desired, std::memory_order_relaxed);
  return expected;
}

template <class T>
T atomicAdd(T* at, std::type_identity_t<T> value) {
  zhalo::emulated::count_atomic(at);
  return std::atomic_ref<T>(*at).fetch_add(value, std::memory_order_relaxed);
}

template <class T>
T atomicMin(T* at, std::type_identity_t<T> value) {
  zhalo::emulated::count_atomic(at);
  const std::atomic_ref<T> there(*at);
  T seen = there.load(std::memory_order_relaxed);
  while (value < seen && !there.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
  return seen;
}
