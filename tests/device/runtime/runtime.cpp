// Memory, copies and waiting.
#include <cuda_runtime_api.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tests/device/runtime/calls.hpp"
#include "tests/device/runtime/devices.hpp"
#include "tests/device/runtime/memory.hpp"
#include "tests/device/runtime/report.hpp"
#include "tests/device/runtime/streams.hpp"

namespace zhalo::emulated {
namespace {

constexpr int on_host = -1;

struct Copy {
  void* to;
  const void* from;
  std::size_t bytes;
  int to_device;
  int from_device;
};

/// One side of a copy: memory of the current device, or of the host.
void check_side(const void* address, int device, std::size_t bytes, const char* what) {
  if (device == on_host) return;
  if (device != current_device())
    stop(std::string(what) + " device " + std::to_string(device) + " while device " +
         std::to_string(current_device()) + " is current");
  memory_of(device).check_range(address, bytes, what);
}

void check_kind(const Copy& copy, cudaMemcpyKind kind) {
  if (kind == cudaMemcpyDefault) return;
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if (to_device != (copy.to_device != on_host) || from_device != (copy.from_device != on_host))
    stop("the kind of a copy is not that of its pointers");
}

/// Host memory that is not page-locked is read before the call returns, and written before, too.
void queue_copy(const Copy& copy, CUstream_st* stream) {
  const int device = current_device();
  const auto move = [copy](const void* from) { std::memmove(copy.to, from, copy.bytes); };
  const bool reads_pageable = copy.from_device == on_host && !is_pinned(copy.from);
  const bool writes_pageable = copy.to_device == on_host && !is_pinned(copy.to);
  if (reads_pageable && !writes_pageable) {
    const auto* first = static_cast<const std::byte*>(copy.from);
    auto staged = std::make_shared<std::vector<std::byte>>(first, first + copy.bytes);
    enqueue(device, stream, {"a copy to the device", [=] { move(staged->data()); }});
    return;
  }
  enqueue(device, stream, {"a copy", [=] { move(copy.from); }});
  if (writes_pageable) finish(device, stream);
}

}  // namespace
}  // namespace zhalo::emulated

using namespace zhalo::emulated;

cudaError_t cudaMalloc(void** block, std::size_t bytes) {
  start_device();
  watch_the_end();
  *block = nullptr;
  if (count_and_fail(Event::malloc)) return result(cudaErrorMemoryAllocation);
  if (bytes == 0) return cudaSuccess;
  *block = memory_of(current_device()).allocate(bytes);
  return result(*block == nullptr ? cudaErrorMemoryAllocation : cudaSuccess);
}

cudaError_t cudaFree(void* block) {
  start_device();
  if (block == nullptr) return cudaSuccess;
  count(Event::free);
  const int device = device_of(block);
  if (device == on_host) stop("cudaFree of memory of the host");
  finish_device(device);
  if (!memory_of(device).deallocate(block)) stop("cudaFree " + memory_of(device).describe(block));
  return cudaSuccess;
}

cudaError_t cudaMallocHost(void** block, std::size_t bytes) {
  start_device();
  watch_the_end();
  constexpr std::size_t alignment = 256;
  *block = nullptr;
  if (count_and_fail(Event::malloc)) return result(cudaErrorMemoryAllocation);
  *block = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (*block == nullptr) return result(cudaErrorMemoryAllocation);
  std::memset(*block, fresh_byte, bytes);
  add_pinned(*block, bytes);
  return cudaSuccess;
}

cudaError_t cudaFreeHost(void* block) {
  start_device();
  if (block == nullptr) return cudaSuccess;
  count(Event::free);
  for (int device = 0; device < settings().num_devices; ++device) finish_device(device);
  if (!remove_pinned(block)) stop("cudaFreeHost of memory that cudaMallocHost did not give");
  std::free(block);
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(std::size_t* available, std::size_t* all) {
  start_device();
  const DeviceMemory& memory = memory_of(current_device());
  *available = memory.available();
  *all = memory.bytes();
  return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* address) {
  const int device = device_of(address);
  if (device != on_host)
    *attributes = {cudaMemoryTypeDevice, device};
  else
    *attributes = {is_pinned(address) ? cudaMemoryTypeHost : cudaMemoryTypeUnregistered, 0};
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  start_device();
  if (count_and_fail(Event::copy)) return result(cudaErrorLaunchFailure);
  if (has_failed()) return cudaErrorIllegalAddress;
  if (bytes == 0) return cudaSuccess;
  const Copy copy{to, from, bytes, device_of(to), device_of(from)};
  if (copy.from_device != on_host && copy.to_device == on_host)
    count(Event::bytes_to_host, static_cast<std::int64_t>(bytes));
  check_kind(copy, kind);
  check_side(to, copy.to_device, bytes, "a copy writes memory of");
  check_side(from, copy.from_device, bytes, "a copy reads memory of");
  queue_copy(copy, stream);
  return cudaSuccess;
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                std::size_t bytes, cudaStream_t stream) {
  start_device();
  if (count_and_fail(Event::copy)) return result(cudaErrorLaunchFailure);
  if (has_failed()) return cudaErrorIllegalAddress;
  if (bytes == 0) return cudaSuccess;
  if (device_of(to) != to_device || device_of(from) != from_device)
    stop("a copy between devices is told other devices than those of its pointers");
  memory_of(to_device).check_range(to, bytes, "a copy between devices writes");
  memory_of(from_device).check_range(from, bytes, "a copy between devices reads");
  enqueue(current_device(), stream, {"a copy between devices", [=] {
                                       const AccessScope target(to_device);
                                       const AccessScope source(from_device);
                                       if (!is_lost(to_device, from_device))
                                         std::memmove(to, from, bytes);
                                     }});
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  start_device();
  if (count_and_fail(Event::synchronise)) {
    abandon(current_device(), stream);
    return result(cudaErrorIllegalAddress);
  }
  if (has_failed()) return cudaErrorIllegalAddress;
  finish(current_device(), stream);
  return cudaSuccess;
}
