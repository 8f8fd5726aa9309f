/// The whole contract between src and the backends: plain functions on views, overloaded on Host and Cuda. Host versions are in
/// kernels/host, Cuda versions in kernels/cuda or, in a build without CUDA, in kernels/stub (they throw DeviceError).
#pragma once

#include "zhalo/core/exec.hpp"
#include "zhalo/core/span.hpp"
#include "zhalo/core/types.hpp"

namespace zhalo::kernels {

// ---------------------------------------------------------------- memory and devices

/// Copies and waits. On Cuda either side may be host or device memory.
void copy_bytes(const Host& exec, void* to, const void* from, std::size_t bytes);
void copy_bytes(const Cuda& exec, void* to, const void* from, std::size_t bytes);

/// How device memory is allocated (plain cudaMalloc), for MemoryPool.
MemoryPool::Source device_memory();
DeviceReport query_devices();
/// Makes `device` current and checks that it can run this build's kernels.
void select_device(int device);
std::string device_name(int device);
/// Name of the vector instructions in use, such as "AVX3".
const char* simd_target();

}  // namespace zhalo::kernels
