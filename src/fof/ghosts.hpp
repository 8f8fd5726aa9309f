/// Joining sets of one rank with those of others.
#pragma once

#include <vector>

#include "kernels/fof.hpp"
#include "src/fof/components.hpp"
#include "src/tree/tree.hpp"
#include "zhalo/fof/fof.hpp"

namespace zhalo {

/// This rank's particles, linked among themselves.
template <class Real>
struct LinkedSets {
  kernels::FofView<Real> fof;
  Buffer<LocalIndex>
      parent;  ///< of the sets: one element per particle, and room for ghosts once there were any
  Index num = 0;
  Numbering numbering;  ///< of the particles of all ranks, in Z-order
};

/// Sends the particles that may have friends on higher ranks there, a bounded number at a time;
/// links those that come with this rank's own. Returns the edges between this rank's sets and
/// others'. Collective.
template <class Real>
CrossingEdges link_across_ranks(const Context& context, LinkedSets<Real>& particles,
                                const FofOptions& options, FofStatistics& statistics);

}  // namespace zhalo
