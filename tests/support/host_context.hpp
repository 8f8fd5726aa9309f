/// The context of a test over all ranks, on hosts.
#pragma once

#include "zhalo/comm/context.hpp"

namespace zhalo::testing {

inline Context host_context(int num_threads = 1, const CommunicatorOptions& options = {}) {
  return {Communicator(MPI_COMM_WORLD, options), host_exec(num_threads)};
}

}  // namespace zhalo::testing
