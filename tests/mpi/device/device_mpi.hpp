/// An MPI that takes addresses of emulated devices, or does not: MPI's calls are stood in for.
#pragma once

namespace zhalo::testing {

enum class DeviceMpi { is_right, is_wrong, fails };

/// How it treats messages that have an address of a device.
inline DeviceMpi device_mpi = DeviceMpi::is_right;
/// How many such messages were started.
inline int calls_with_device = 0;

}  // namespace zhalo::testing
