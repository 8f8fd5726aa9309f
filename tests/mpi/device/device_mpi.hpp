/// An MPI that takes addresses of emulated devices, or does not: MPI's calls are stood in for.
#pragma once

#include <vector>

namespace zhalo::testing {

/// `hangs`: receives do not end, even when they are cancelled.
enum class DeviceMpi { is_right, is_wrong, fails, hangs };

/// How it treats messages that have an address of a device.
inline DeviceMpi device_mpi = DeviceMpi::is_right;
/// How many such messages were started.
inline int calls_with_device = 0;
/// Where those would be written that were let go of before they ended.
inline std::vector<void*> addresses_of_abandoned;

}  // namespace zhalo::testing
