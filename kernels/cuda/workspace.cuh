/// Scratch memory for CUB.
#pragma once

#include <cstddef>

#include "kernels/cuda/error.cuh"
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

}  // namespace zhalo::kernels
