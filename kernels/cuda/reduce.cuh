/// transform_reduce and exclusive_scan, over CUB, and scratch memory for its algorithms.
#pragma once

#include <thrust/iterator/counting_iterator.h>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

#include "kernels/cuda/launch.cuh"
#include "kernels/memory.hpp"
#include "zhalo/core/buffer.hpp"

namespace zhalo::kernels {

/// Calls a CUB algorithm twice: call(nullptr, bytes) sets the bytes that it needs, call(room,
/// bytes) queues the work. The room may be used again by whatever is queued later on the same
/// stream.
template <class Call>
void with_workspace(const Cuda& exec, const Call& call) {
  const DeviceScope scope(exec.device);
  std::size_t bytes = 0;
  ZHALO_CUDA_TRY(call(nullptr, bytes));
  Buffer<std::byte> room(exec, static_cast<Index>(bytes), "device algorithms");
  ZHALO_CUDA_TRY(call(room.data(), bytes));
}

/// Combines map(0) .. map(n - 1) and init into *to, in memory of the device, without a wait;
/// `combine` must be associative and commutative, and combine(init, x) must be x.
template <class T, class Map, class Combine>
void reduce_into(const Cuda& exec, Index n, T init, Map map, Combine combine, T* to) {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_copyable_v<Map> &&
                    std::is_trivially_copyable_v<Combine>,
                "values and device pointers only");
  with_workspace(exec, [&](void* room, std::size_t& bytes) {
    return cub::DeviceReduce::TransformReduce(room, bytes, thrust::counting_iterator<Index>(0), to,
                                              n, combine, map, init, exec.stream);
  });
}

/// The same, to the host.
template <class T, class Map, class Combine>
T transform_reduce(const Cuda& exec, Index n, T init, Map map, Combine combine) {
  if (n == 0) return init;
  Buffer<T> result(exec, 1, "reduction");
  reduce_into(exec, n, init, map, combine, result.data());
  copy_bytes(exec, &init, result.data(), sizeof(T));
  return init;
}

/// Replaces each element by the sum of those before it; returns the sum of all.
inline Index exclusive_scan(const Cuda& exec, Span<Index> values) {
  const Index n = values.size();
  if (n == 0) return 0;
  const Index* last = values.data() + n - 1;
  Buffer<Index> ends(exec, 2, "scan");
  const DeviceScope scope(exec.device);
  ZHALO_CUDA_TRY(
      cudaMemcpyAsync(ends.data(), last, sizeof(Index), cudaMemcpyDeviceToDevice, exec.stream));
  with_workspace(exec, [&](void* room, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(room, bytes, values.data(), values.data(), n, exec.stream);
  });
  ZHALO_CUDA_TRY(
      cudaMemcpyAsync(ends.data() + 1, last, sizeof(Index), cudaMemcpyDeviceToDevice, exec.stream));
  Index on_host[2] = {};
  copy_bytes(exec, on_host, ends.data(), sizeof on_host);
  return on_host[0] + on_host[1];
}

}  // namespace zhalo::kernels
