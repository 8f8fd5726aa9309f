/// What a run took, over all ranks.
#pragma once

#include <string>
#include <vector>

#include "zhalo/fof/fof.hpp"

namespace zhalo::fof_app {

/// Of a number that each rank has.
struct Spread {
  double max = 0;
  double mean = 0;
  /// The rank with most against the mean: 1 is even.
  double imbalance() const { return mean > 0 ? max / mean : 1; }
};

struct PhaseSpread {
  std::string name;
  Spread seconds;
};

struct Measured {
  std::vector<PhaseSpread> phases;
  Spread peak_resident;  ///< bytes; VmHWM, thus with program and libraries
  Spread peak_pool;      ///< bytes; the columns and work arrays
};

/// What the search sent between ranks.
struct Exchanged {
  Spread searched;   ///< particles on a rank
  Spread ghosts;     ///< particles that a rank sent to others
  Index edges = 0;   ///< between sets on different ranks, over all ranks
  Index rounds = 0;  ///< until all ranks agreed on the groups
  Spread bytes;      ///< that a rank sent
};

Spread spread_of(const Communicator& comm, double value);

/// Collective.
Exchanged exchanged_over_ranks(const Communicator& comm, const FofStatistics& mine);

/// Collective. The phases are those of context.timers on rank 0; what other ranks noted under further names is "other".
Measured measure(const Context& context);

}  // namespace zhalo::fof_app
