/// The device of a rank, for the tests that need one.
#pragma once

#include "tests/parity/backends.hpp"
#include "zhalo/comm/context.hpp"

namespace zhalo::testing {

/// A context on the device of this rank, or none.
inline bool find_device(Context& context, const CommunicatorOptions& options = {}) {
  const auto exec = OnCuda::exec();
  if (!exec) return false;
  context.comm = Communicator(MPI_COMM_WORLD, options);
  const DeviceReport report = query_devices();
  context.exec = cuda_exec(context.comm.node_rank() % report.num_devices);
  return true;
}

}  // namespace zhalo::testing
