/// CUDA's error codes as exceptions.
#pragma once

#include <cuda_runtime_api.h>

namespace zhalo::kernels {

/// Throws OutOfMemory or DeviceError with the call, its place and CUDA's words.
[[noreturn]] void throw_cuda_error(cudaError_t error, const char* call, const char* file, int line);

/// Makes a device current in this thread, and the caller's own one again in the end.
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
