/// Where a computation runs: chosen once, at the public API.
#pragma once

#include <memory>
#include <string>
#include <variant>

#include "zhalo/core/memory.hpp"

struct CUstream_st;  // = *cudaStream_t, without any CUDA header

namespace zhalo {

/// The processor's cores. `threads` == 0 takes all that the process may use.
struct Host {
  int threads = 0;
  std::shared_ptr<MemoryPool> pool = std::make_shared<MemoryPool>();
};

/// A CUDA device and the stream on which everything is queued: make it with cuda_exec(). A pool
/// belongs to one stream.
struct Cuda {
  int device = 0;
  CUstream_st* stream = nullptr;
  std::shared_ptr<MemoryPool> pool;
};

using Exec = std::variant<Host, Cuda>;

/// What this build and this machine offer.
struct DeviceReport {
  bool built_with_cuda = false;
  int num_devices = 0;
  std::string name;    ///< of the first device, or empty
  std::string reason;  ///< why no device can be used, or empty
};
DeviceReport query_devices();

/// Host with `threads` threads (0: all that the process may use).
Exec host_exec(int threads = 0);

/// Device number `device`; DeviceError if it cannot be used.
Exec cuda_exec(int device = 0, CUstream_st* stream = nullptr);

/// The first visible device if there is one, else the host.
Exec automatic_exec(int threads = 0);

/// "host, 8 threads, AVX3" or "cuda device 0, NVIDIA H200".
std::string describe(const Exec& exec);

/// Waits for all work that was queued; an error of that work is thrown by the next call.
void wait(const Exec& exec) noexcept;

/// The pool of either kind.
const std::shared_ptr<MemoryPool>& memory(const Exec& exec);

/// Threads that the process may use: its affinity mask, not the machine's size.
int available_threads();

}  // namespace zhalo
