// Sorting on CUDA, by CUB.
#define ZHALO_BACKEND Cuda

#include <cub/device/device_radix_sort.cuh>

#include "kernels/cuda/reduce.cuh"
// The loops come first: the texts of kernels/common are written in terms of them.
#include "kernels/common/sort/sorted.hpp"

namespace zhalo::kernels {

namespace {

template <class T>
void bring_to(const Cuda& exec, Span<T> to, const T* from) {
  if (from == to.data()) return;
  queue_copy(exec, to.data(), from, static_cast<std::size_t>(to.size()) * sizeof(T));
}

/// The values are where they were. The keys may be in the spare room: returns them.
template <class Key>
Span<const Key> sort_through(const Cuda& exec, const SortPairsOf<Key>& pairs, int bits) {
  const Index num = pairs.keys.size();
  if (num <= 1 || bits == 0) return pairs.keys;
  cub::DoubleBuffer<Key> keys(pairs.keys.data(), pairs.spare_keys.data());
  cub::DoubleBuffer<LocalIndex> values(pairs.values.data(), pairs.spare_values.data());
  with_workspace(exec, [&](void* room, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(room, bytes, keys, values, num, 0, bits, exec.stream);
  });
  bring_to(exec, pairs.values, values.Current());
  return {keys.Current(), num};
}

}  // namespace

void sort_pairs(const Cuda& exec, const SortPairs& pairs, int bits) {
  bring_to(exec, pairs.keys, sort_through(exec, pairs, bits).data());
}

Span<const std::uint32_t> sort_short_pairs(const Cuda& exec,
                                           const SortPairsOf<std::uint32_t>& pairs, int bits) {
  return sort_through(exec, pairs, bits);
}

}  // namespace zhalo::kernels
