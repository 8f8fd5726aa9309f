// Sorting on CUDA, by CUB.
#define ZHALO_BACKEND Cuda

#include <cub/device/device_radix_sort.cuh>

#include "kernels/cuda/reduce.cuh"
// The loops come first: the texts of kernels/common are written in terms of them.
#include "kernels/common/sort/runs.hpp"
#include "kernels/common/sort/search.hpp"

namespace zhalo::kernels {

void sort_pairs(const Cuda& exec, const SortPairs& pairs, int bits) {
  const Index num = pairs.keys.size();
  if (num <= 1 || bits == 0) return;
  cub::DoubleBuffer<std::uint64_t> keys(pairs.keys.data(), pairs.spare_keys.data());
  cub::DoubleBuffer<LocalIndex> values(pairs.values.data(), pairs.spare_values.data());
  with_workspace(exec, [&](void* room, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(room, bytes, keys, values, num, 0, bits, exec.stream);
  });
  if (keys.Current() == pairs.keys.data()) return;
  const DeviceScope scope(exec.device);
  const auto count = static_cast<std::size_t>(num);
  const auto kind = cudaMemcpyDeviceToDevice;
  ZHALO_CUDA_TRY(cudaMemcpyAsync(pairs.keys.data(), keys.Current(), count * sizeof(std::uint64_t),
                                 kind, exec.stream));
  ZHALO_CUDA_TRY(cudaMemcpyAsync(pairs.values.data(), values.Current(), count * sizeof(LocalIndex),
                                 kind, exec.stream));
}

}  // namespace zhalo::kernels
