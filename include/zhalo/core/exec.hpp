/// Where a computation runs. The caller chooses it once, in the public API.
#pragma once

#include <memory>
#include <string>
#include <variant>

#include "zhalo/core/memory.hpp"

struct CUstream_st;  // = *cudaStream_t, without any CUDA header

namespace zhalo {

/// The cores of the processor. `threads` == 0: all threads that the process may use.
struct Host {
  int threads = 0;
  std::shared_ptr<MemoryPool> pool = std::make_shared<MemoryPool>();
};

/// A CUDA device and the stream on which all work is queued. Make one with cuda_exec(). A pool
/// belongs to one stream.
struct Cuda {
  int device = 0;
  CUstream_st* stream = nullptr;
  std::shared_ptr<MemoryPool> pool;
};

using Exec = std::variant<Host, Cuda>;

/// Which devices this build can use on this machine.
struct DeviceReport {
  bool built_with_cuda = false;
  int num_devices = 0;
  std::string name;    ///< of the first device, or empty
  std::string reason;  ///< why no device can be used, or empty
};
/// Looks for devices that this process can use. Without one, num_devices is 0 and `reason` says
/// why: that is no error. Each process looks for itself; not collective.
DeviceReport query_devices();

/// The host with `threads` threads. 0: OMP_NUM_THREADS if it is set, else all that the process may
/// use; choose_exec() shares the cores among the ranks of a machine. InputError if negative or more
/// than 4096.
Exec host_exec(int threads = 0);

/// Device number `device`, with a new memory pool. DeviceError if the device cannot be used.
Exec cuda_exec(int device = 0, CUstream_st* stream = nullptr);

/// For example "host, 8 threads, AVX3" or "cuda device 0, NVIDIA H200".
std::string describe(const Exec& exec);

/// Waits for all queued work. If that work failed, the next call throws its error.
void wait(const Exec& exec) noexcept;

/// The memory pool of the Exec. InputError if there is none.
const std::shared_ptr<MemoryPool>& memory(const Exec& exec);

/// Number of threads that the process may use: cores of its affinity mask, or of OpenMP's places.
int available_threads();

/// OMP_NUM_THREADS, or 0 if it is not set or is no number. Of a list "4,2" the first counts: one
/// level is used.
int threads_of_environment();

}  // namespace zhalo
