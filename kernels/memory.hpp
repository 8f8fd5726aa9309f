/// Memory, cores and devices, and how functors of the user's run on the host.
#pragma once

#include <sched.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "zhalo/core/exec.hpp"
#include "zhalo/core/for_each.hpp"
#include "zhalo/core/types.hpp"

namespace zhalo::kernels {

/// Copies and waits. On Cuda either side may be host or device memory.
void copy_bytes(const Host& exec, void* to, const void* from, std::size_t bytes);
void copy_bytes(const Cuda& exec, void* to, const void* from, std::size_t bytes);

/// Copies before anything that is queued afterwards; memory of the host may be changed on return.
/// Waits only where that needs it.
void queue_copy(const Host& exec, void* to, const void* from, std::size_t bytes);
void queue_copy(const Cuda& exec, void* to, const void* from, std::size_t bytes);

/// Copies and waits. `from` may also be memory of another device of this process, whose own work on
/// it must be done.
void copy_from_any_device(const Host& exec, void* to, const void* from, std::size_t bytes);
void copy_from_any_device(const Cuda& exec, void* to, const void* from, std::size_t bytes);
/// From now on copies from one of these devices to another need not go through the host, where the
/// hardware has a way. Starts them all.
void connect_devices(const std::vector<int>& devices);
/// From now on these copies go through the host again.
void disconnect_devices(const std::vector<int>& devices);

/// Copies between memory of an Exec and page-locked memory of the host, one after the other. The
/// destructor waits for them. Errors of the device are thrown.
class CopyQueue {
 public:
  CopyQueue() = default;
  virtual ~CopyQueue() = default;
  CopyQueue(const CopyQueue&) = delete;
  CopyQueue& operator=(const CopyQueue&) = delete;

  /// Copies from now on wait for the work that is queued on the Exec by now.
  virtual void follow() = 0;
  /// Returns the copy's number; the first one is 0. The copy that was begun `max_under_way` copies
  /// ago must be done.
  virtual Index begin(void* to, const void* from, std::size_t bytes) = 0;
  /// Whether this copy is done. Waits for nothing.
  virtual bool is_done(Index number) = 0;
};

/// Copies at once: there is nothing that it could overlap with.
std::unique_ptr<CopyQueue> make_copy_queue(const Host& exec, int max_under_way);
/// On a stream of its own, which is kept with the Exec's memory for the next queue.
std::unique_ptr<CopyQueue> make_copy_queue(const Cuda& exec, int max_under_way);

/// Waits for all work that was queued; its errors stay for the next call, or are thrown.
void wait(const Cuda& exec) noexcept;
void synchronise(const Cuda& exec);

// ---------------------------------------------------------------- memory and devices

/// How memory of a device is allocated (plain cudaMalloc), for MemoryPool.
MemoryPool::Source device_memory(int device);
/// Host memory from and to which this device copies at full speed.
MemoryPool::Source pinned_memory(int device);
/// Whose memory an address is in, as far as a device cares: its own; the host's, but such that it
/// can use it, too; another device's; or the host's alone.
enum class MemoryOwner { device, both, another_device, host };
MemoryOwner owner_of(const Cuda& exec, const void* address);
/// While it lives, the device of `exec`, if it has one, is this thread's current device. For calls
/// of other libraries (MPI) that are given addresses of its memory, and would start the current
/// device otherwise.
class DeviceInUse {
 public:
  explicit DeviceInUse(const Exec& exec);

 private:
  std::shared_ptr<const void> scope_;
};
DeviceReport query_devices();
/// Checks that `device` can run this build's kernels.
void select_device(int device);
std::string device_name(int device);
/// Name of the vector instructions in use, such as "AVX3".
const char* simd_target();

// ---------------------------------------------------------------- cores

/// The cores of this process, on which its loops may run. Nothing if it cannot be said, as on
/// machines of more cores than a cpu_set_t knows.
///
/// OpenMP may be told to bind threads (OMP_PROC_BIND, OMP_PLACES). Then it binds the first thread
/// before main() begins, and threads of the process inherit the few cores that this one has left.
/// So what counts are the places (in OpenMP's sense) that it made of the cores of the process.
std::optional<cpu_set_t> cores_of_process();

// ---------------------------------------------------------------- functors of the user's

/// Calls the function for consecutive blocks of [0, num), spread over the threads.
void run_blocks(const Host& exec, Index num, Index block, const RangeFunction& function);

}  // namespace zhalo::kernels
