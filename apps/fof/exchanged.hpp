/// What the search sent between ranks.
#pragma once

#include "apps/report/measure.hpp"
#include "zhalo/fof/fof.hpp"

namespace zhalo::fof_app {

struct Exchanged {
  app::Spread searched;  ///< particles on a rank
  app::Spread ghosts;    ///< particles that a rank sent to others
  Index edges = 0;       ///< between sets on different ranks, over all ranks
  Index rounds = 0;      ///< until all ranks agreed on the groups
  app::Spread bytes;     ///< that a rank sent
};

/// Collective.
Exchanged exchanged_over_ranks(const Communicator& comm, const FofStatistics& mine);

}  // namespace zhalo::fof_app
