/// What every collective computation needs besides its data: the choice of the processor, and the
/// memory of its device.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "zhalo/comm/communicator.hpp"
#include "zhalo/core/exec.hpp"
#include "zhalo/core/timers.hpp"

namespace zhalo {

/// The ranks, the Exec on which this rank computes, and optionally timers for the phases. Make one
/// context and keep it: repeated calls reuse its memory. Make one call at a time per context. With
/// several ranks on a machine set `exec` to choose_exec(comm), which shares the cores among them.
struct Context {
  Communicator comm;
  Exec exec = host_exec();
  Timers* timers = nullptr;
};

/// Adds the seconds of a phase to the context's timers. Devices compute asynchronously. So with
/// timers, the end of a phase waits for the device.
class PhaseTimer {
 public:
  PhaseTimer(const Context& context, const char* name)
      : context_(context), timer_(context.timers, name) {}
  ~PhaseTimer() {
    if (context_.timers != nullptr) wait(context_.exec);
  }
  PhaseTimer(const PhaseTimer&) = delete;
  PhaseTimer& operator=(const PhaseTimer&) = delete;

 private:
  const Context& context_;
  ScopedTimer timer_;
};

enum class Processor {
  automatic,  ///< a CUDA device if this rank sees one, else the host
  host,
  cuda
};

struct ExecRequest {
  Processor processor = Processor::automatic;
  /// Number of the CUDA device among those that the process sees. A number asks for a device, as
  /// Processor::cuda does. Negative: the ranks of a machine take the devices in turn, so rank r of
  /// the machine takes device r modulo the number of devices. If each rank sees only one device
  /// (CUDA_VISIBLE_DEVICES, Slurm's --gpus-per-task), this is device 0 for all. Several ranks may
  /// share a device.
  int device = -1;
  /// Host threads. 0: this rank's fair share of the cores, fair_threads(). Negative:
  /// OMP_NUM_THREADS if it is set, else as 0.
  int threads = -1;
};

/// Chooses where this rank computes. The rule is the same on all ranks; each applies it to the
/// devices and cores of its machine. A code that has chosen a device itself gives it in
/// `request.device`. The thread's current device does not change. Collective. Throws DeviceError if
/// a requested device cannot be used, and InputError for more than 4096 threads and for a device
/// that is named for the host.
Exec choose_exec(const Communicator& comm, const ExecRequest& request = {});

/// Number of threads for this rank with which the ranks of a machine together use no more threads
/// than cores; at least 1. Each core that the process may run on counts as one divided by the
/// number of ranks that may run on it. So ranks that are bound to cores of their own use all of
/// them. Ranks that are not bound divide the machine. Collective.
int fair_threads(const Communicator& comm);

// Particles beyond the memory of devices: one error that says how many devices would do.

/// Bytes that a rank would need beyond what is in use, if there were so many ranks with a device
/// each: such as knn_need(size, search).peak.
using NeedOfRanks = std::function<double(int num_ranks)>;

/// Looks after the memory of this rank's device while some work is done. On a host it does nothing.
///
/// Throws OutOfMemory before the work begins if nine tenths of what it needs are more than the
/// device has available. If an allocation fails while the object lives, its error has the same
/// remedy: the number of devices of this memory that would do. Scopes may be nested; the outermost
/// one gives the remedy. Not collective: make it inside Communicator::together, so that the error
/// is that of all ranks.
class DeviceMemoryScope {
 public:
  /// `work` begins the message: "friends of friends among 1000 particles".
  DeviceMemoryScope(const Context& context, const std::string& work, const NeedOfRanks& need);
  ~DeviceMemoryScope();
  DeviceMemoryScope(const DeviceMemoryScope&) = delete;
  DeviceMemoryScope& operator=(const DeviceMemoryScope&) = delete;

 private:
  std::shared_ptr<MemoryPool> pool_;  ///< whose remedy this object has set, or null
};

}  // namespace zhalo
