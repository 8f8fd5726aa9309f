/// What every collective computation needs besides its data.
#pragma once

#include "zhalo/comm/communicator.hpp"
#include "zhalo/core/exec.hpp"
#include "zhalo/core/timers.hpp"

namespace zhalo {

/// Ranks, the place to compute, and (optionally) where to note the seconds of each phase. Make one
/// and keep it: repeated calls with the same context reuse its memory. One call at a time per
/// context.
struct Context {
  Communicator comm;
  Exec exec = host_exec();
  Timers* timers = nullptr;
};

/// Adds the seconds of a phase to the context's timers. A device works behind the host's back: with
/// timers on, the end of a phase waits for it.
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
  /// Number of the CUDA device among those that the process sees. Negative: the ranks of a machine
  /// take the devices in turn, rank r among them device r modulo the number of devices; where each
  /// rank sees one device (CUDA_VISIBLE_DEVICES, Slurm's --gpus-per-task) that is device 0 for all.
  /// Several ranks may share a device.
  int device = -1;
  /// Host threads. 0: this rank's fair share of the cores, fair_threads(). Negative:
  /// OMP_NUM_THREADS if it is set, else as 0.
  int threads = -1;
};

/// Where this rank shall compute: the same rule on all ranks, the machine's own devices and cores
/// on each. Collective. A device is made the thread's current one: a code that has chosen a device
/// itself names it in `request.device`. Throws DeviceError if a device is asked for that cannot be
/// used, InputError for more than 4096 threads.
Exec choose_exec(const Communicator& comm, const ExecRequest& request = {});

/// Threads for this rank so that the ranks of a machine do not use more threads than cores: each
/// core that the process may run on counts as one divided by the number of ranks of this machine
/// that may run on it. Thus ranks that are bound to cores of their own use all of these, and ranks
/// that are not bound divide the machine; at least 1. Collective.
int fair_threads(const Communicator& comm);

}  // namespace zhalo
