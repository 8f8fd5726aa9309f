/// Loops over a device's threads and warps: for_each, for_each_with_lanes. Nothing here waits for
/// the device.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "kernels/common/backend.hpp"
#include "zhalo/core/exec.hpp"
#include "zhalo/core/types.hpp"

namespace zhalo::kernels {

/// Throws OutOfMemory or DeviceError with the call, its file and line and CUDA's words.
[[noreturn]] void throw_cuda_error(cudaError_t error, const char* call, const char* file, int line);

/// Makes a device current in this thread, and in the end the caller's own one again, if that has
/// been started.
class DeviceScope {
 public:
  explicit DeviceScope(int device);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  int before_ = 0;
  int device_ = 0;
};

}  // namespace zhalo::kernels

/// Every call of CUDA's is wrapped in this.
#define ZHALO_CUDA_TRY(call)                                                      \
  do {                                                                            \
    if (const cudaError_t zhalo_error = (call); zhalo_error != cudaSuccess) {     \
      ::zhalo::kernels::throw_cuda_error(zhalo_error, #call, __FILE__, __LINE__); \
    }                                                                             \
  } while (false)

namespace zhalo::kernels {

/// Grain of loops that go through a chunk of elements in order.
inline Index chunk_of_loop(const Cuda&) { return 256; }

/// Blocks of a grid: what the hardware takes, the rest is strided over.
inline unsigned grid_size(Index n, Index per_block) {
  constexpr Index max_blocks = (Index{1} << 31) - 1;
  return static_cast<unsigned>(std::min(max_blocks, (n + per_block - 1) / per_block));
}

/// Blocks of a kernel, all alike.
struct GridShape {
  unsigned blocks = 0;
  int threads = 0;               ///< of each block
  std::size_t shared_bytes = 0;  ///< of each block
};

/// Calls what may take memory of the device beside the pool, as the driver does for the code of a
/// kernel at its first launch. If there is none left, the pool gives back what it holds unused, and
/// the call is made again.
template <class Call>
cudaError_t call_with_memory(const Cuda& exec, const Call& call) {
  const cudaError_t error = call();
  if (error != cudaErrorMemoryAllocation) return error;
  static_cast<void>(cudaGetLastError());
  exec.pool->release_unused();
  return call();
}

/// Queues a kernel. Every launch but CUB's goes through here, by a plain function: any compiler of
/// C++ can read it (tests/device).
template <class... Parameters, class... Arguments>
void launch(const Cuda& exec, const GridShape& shape, void (*kernel)(Parameters...),
            const Arguments&... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(shape.blocks);
  config.blockDim = dim3(static_cast<unsigned>(shape.threads));
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = exec.stream;
  const DeviceScope scope(exec.device);
  const auto call = [&] { return cudaLaunchKernelEx(&config, kernel, arguments...); };
  if (const cudaError_t error = call_with_memory(exec, call); error != cudaSuccess)
    throw_cuda_error(error, "cudaLaunchKernelEx", __FILE__, __LINE__);
}

inline constexpr int max_threads = 256;  ///< of a block of for_each

// Launch bounds name the blocks per multiprocessor for which registers must be left: without a
// number the compiler spills registers to memory for more blocks than pay.

template <class F>
__global__ void __launch_bounds__(max_threads, 3) run_for_each(Index n, F f) {
  const Index step = Index{gridDim.x} * blockDim.x;
  for (Index i = Index{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) f(i);
}

/// Runs f(i) for every i in [0, n), in any order. f is a value: it is copied to the device and
/// holds device pointers only.
template <class F>
void for_each(const Cuda& exec, Index n, F f) {
  static_assert(std::is_trivially_copyable_v<F> && std::is_copy_constructible_v<F>,
                "values and device pointers only");
  if (n == 0) return;
  // Few elements are long chunks (see chunk_of_loop): small blocks spread them over all
  // multiprocessors.
  const int threads = n < (1 << 16) ? 32 : max_threads;
  launch(exec, {grid_size(n, threads), threads}, run_for_each<F>, n, f);
}

inline constexpr int warp_size = 32;
inline constexpr std::size_t max_shared_bytes = 48 << 10;  ///< of a block, without asking for more

/// Warps of a block of for_each_with_lanes. Few, because a block's room is free again only when its
/// last warp is done; more where there is no scratch memory, because a multiprocessor holds a
/// limited number of blocks. A functor whose items differ much says how many (`warps_in_block`).
template <class Functor>
constexpr int warps_in_block_of() {
  if constexpr (requires { Functor::warps_in_block; }) {
    return Functor::warps_in_block;
  } else {
    using Scratch = typename Functor::Scratch;
    return static_cast<int>(std::clamp<std::size_t>(max_shared_bytes / sizeof(Scratch), 1,
                                                    std::is_empty_v<Scratch> ? 8 : 4));
  }
}

template <class Functor>
inline constexpr int warps_per_block = warps_in_block_of<Functor>();

/// For which registers are left. Leaves 128 of them a thread with scratch memory, 64 without; but a
/// functor may name the warps that a multiprocessor should hold (`warps_at_once`). Code for devices
/// before sm_90 takes more registers: they hold fewer blocks, so that nothing is spilled.
inline constexpr int blocks_per_multiprocessor = 4;
template <class Functor>
constexpr int blocks_at_once() {
  if constexpr (requires { Functor::warps_at_once; }) {
    constexpr int blocks = Functor::warps_at_once / warps_per_block<Functor>;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
    return blocks - std::max(1, blocks / 6);
#else
    return blocks;
#endif
  } else {
    return blocks_per_multiprocessor;
  }
}

/// `shared_bytes` is what the launch asks for: as part of the kernel's name it is in the budget of
/// scripts/kernel-budget.
template <class Functor, class Lanes, std::size_t shared_bytes>
__global__ void __launch_bounds__(warps_per_block<Functor>* warp_size, blocks_at_once<Functor>())
    run_for_each_item(Index num_items, Functor functor, Lanes lanes) {
  using Scratch = typename Functor::Scratch;
  constexpr int warps = warps_per_block<Functor>;
  static_assert(alignof(Scratch) <= 16);
  static_assert(shared_bytes == warps * sizeof(Scratch));
  alignas(16) extern __shared__ std::byte
      shared_memory[];  // as much as the launch says: a warp's scratch memory for each warp
  auto* const scratch = reinterpret_cast<Scratch*>(shared_memory);
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const Index step = Index{gridDim.x} * warps;
  for (Index item = Index{blockIdx.x} * warps + warp; item < num_items; item += step) {
    functor(lanes, item, scratch[warp]);
    lanes.sync();  // the next item uses the same scratch memory
  }
}

/// Items of for_each_with_lanes that should be there, for few large ones to pay: two for each warp
/// that the device runs at the same time.
inline Index items_at_once(const Cuda& exec) {
  int multiprocessors = 0;
  ZHALO_CUDA_TRY(
      cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, exec.device));
  return Index{2} * multiprocessors * blocks_per_multiprocessor * 4;
}

/// Runs functor(lanes, item, scratch) for every item, one warp per item.
template <class Functor, class Lanes>
void for_each_with_lanes(const Cuda& exec, Index num_items, const Functor& functor,
                         const Lanes& lanes) {
  static_assert(std::is_trivially_copyable_v<Functor>, "values and device pointers only");
  static_assert(Lanes::size == warp_size);
  if (num_items == 0) return;
  constexpr int warps = warps_per_block<Functor>;
  constexpr std::size_t shared_bytes = warps * sizeof(typename Functor::Scratch);
  static_assert(shared_bytes <= max_shared_bytes);
  launch(exec, {grid_size(num_items, warps), warps * warp_size, shared_bytes},
         run_for_each_item<Functor, Lanes, shared_bytes>, num_items, functor, lanes);
}

}  // namespace zhalo::kernels
