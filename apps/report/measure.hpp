/// What a run took, over all ranks.
#pragma once

#include <string>
#include <vector>

#include "zhalo/comm/context.hpp"

namespace zhalo::app {

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

/// Collective.
Spread spread_of(const Communicator& comm, double value);

/// Collective. The phases are those of context.timers on rank 0; what other ranks noted under
/// further names is "other".
Measured measure(const Context& context);

}  // namespace zhalo::app
