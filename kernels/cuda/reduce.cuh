/// transform_reduce, exclusive_scan and select, over CUB, and scratch memory for its algorithms.
#pragma once

#include <thrust/iterator/counting_iterator.h>
#include <cstdint>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <cub/version.cuh>
#include <limits>
#include <string>

#include "kernels/cuda/launch.cuh"
#include "kernels/memory.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::kernels {

/// Calls a CUB algorithm twice: call(nullptr, bytes) sets the bytes that it needs, call(room,
/// bytes) queues the work. Either may load code. The room may be used again by whatever is queued
/// later on the same stream.
template <class Call>
void with_workspace(const Cuda& exec, const Call& call) {
  const DeviceScope scope(exec.device);
  // CUB returns what cudaPeekAtLastError says: that may be an error of the caller's, from before.
  static_cast<void>(cudaGetLastError());
  std::size_t bytes = 0;
  ZHALO_CUDA_TRY(call_with_memory(exec, [&] { return call(nullptr, bytes); }));
  Buffer<std::byte> room(exec, static_cast<Index>(bytes), "device algorithms");
  ZHALO_CUDA_TRY(call_with_memory(exec, [&] { return call(room.data(), bytes); }));
}

/// The result is in memory of the device.
template <class T, class Map, class Combine>
void queue_reduce(const Cuda& exec, Index n, const MapReduce<T, Map, Combine>& what, T* result) {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_copyable_v<Map> &&
                    std::is_trivially_copyable_v<Combine>,
                "values and device pointers only");
  with_workspace(exec, [&](void* room, std::size_t& bytes) {
    return cub::DeviceReduce::TransformReduce(room, bytes, thrust::counting_iterator<Index>(0),
                                              result, n, what.combine, what.map, what.init,
                                              exec.stream);
  });
}

template <class T, class Map, class Combine>
T transform_reduce(const Cuda& exec, Index n, T init, Map map, Combine combine) {
  if (n == 0) return init;
  Buffer<T> result(exec, 1, "reduction");
  queue_reduce(exec, n, MapReduce{init, map, combine}, result.data());
  copy_bytes(exec, &init, result.data(), sizeof(T));
  return init;
}

/// DeviceError for more than CUB counts: its scans before CUDA 12.8, and its selections before
/// CUDA 12.9, count in 32 bits and would cut the rest off.
inline void validate_count([[maybe_unused]] Index num) {
#if CUB_VERSION < 200800
  if (num > std::numeric_limits<int>::max()) {
    throw DeviceError(std::to_string(num) +
                      " particles of a device are too many for the CUDA that zhalo was built with; "
                      "use more ranks, or build with CUDA 12.9 or later");
  }
#endif
}

/// Replaces each element by the sum of those before it.
inline void queue_scan(const Cuda& exec, Span<Index> values) {
  if (values.empty()) return;
  validate_count(values.size());
  with_workspace(exec, [&](void* room, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(room, bytes, values.data(), values.data(), values.size(),
                                         exec.stream);
  });
}

/// The same; returns the sum of all.
inline Index exclusive_scan(const Cuda& exec, Span<Index> values) {
  const Index n = values.size();
  if (n == 0) return 0;
  const Index* last = values.data() + n - 1;
  Buffer<Index> ends(exec, 2, "scan");
  queue_copy(exec, ends.data(), last, sizeof(Index));
  queue_scan(exec, values);
  queue_copy(exec, ends.data() + 1, last, sizeof(Index));
  Index on_host[2] = {};
  copy_bytes(exec, on_host, ends.data(), sizeof on_host);
  return on_host[0] + on_host[1];
}

template <class Condition>
struct FlagIf {
  Condition condition;
  std::uint8_t* flags;

  ZHALO_HD void operator()(Index i) const { flags[i] = condition(i) ? 1 : 0; }
};

/// Writes the indices of the flags that are set, ascending, and how many there are, to memory of
/// the device; there must be room for all of them.
inline void queue_select_flagged(const Cuda& exec, Span<const std::uint8_t> flags,
                                 LocalIndex* selected, Index* num) {
  validate_count(flags.size());
  with_workspace(exec, [&](void* room, std::size_t& bytes) {
    return cub::DeviceSelect::Flagged(room, bytes, thrust::counting_iterator<LocalIndex>(0),
                                      flags.data(), selected, num, flags.size(), exec.stream);
  });
}

/// Writes the i in [0, n) with condition(i), ascending, and how many there are, to memory of the
/// device; there must be room for all of them. The condition is asked once for each i, in a kernel
/// of its own: in CUB's, which looks at several i a thread, it would not find enough registers.
template <class Condition>
void queue_select(const Cuda& exec, Index n, Condition condition, LocalIndex* selected,
                  Index* num) {
  Buffer<std::uint8_t> flags(exec, n, "a selection");
  for_each(exec, n, FlagIf<Condition>{condition, flags.data()});
  queue_select_flagged(exec, Span<const std::uint8_t>(flags.span()), selected, num);
}

/// The same; what is returned has no more memory than it needs.
template <class Condition>
Buffer<LocalIndex> select(const Cuda& exec, Index n, Condition condition) {
  if (n == 0) return {};
  Buffer<LocalIndex> room(exec, n, "a selection");
  Buffer<Index> num(exec, 1, "a selection");
  queue_select(exec, n, condition, room.data(), num.data());
  Index num_selected = 0;
  copy_bytes(exec, &num_selected, num.data(), sizeof num_selected);
  Buffer<LocalIndex> selected(exec, num_selected, "a selection");
  if (num_selected > 0) {
    queue_copy(exec, selected.data(), room.data(),
               static_cast<std::size_t>(num_selected) * sizeof(LocalIndex));
  }
  return selected;
}

}  // namespace zhalo::kernels
