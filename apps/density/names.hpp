/// The files that a run writes.
#pragma once

#include "apps/density/summary.hpp"
#include "zhalo/comm/communicator.hpp"

namespace zhalo::density_app {

/// Throws InputError, as seen by rank 0, if two results would go to one file, or one would replace what is read. Collective.
void check_names(const Communicator& comm, const Summary& plan);

}  // namespace zhalo::density_app
