/// Which processor a rank computes on.
#pragma once

#include "zhalo/comm/communicator.hpp"
#include "zhalo/core/exec.hpp"

namespace zhalo {

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
