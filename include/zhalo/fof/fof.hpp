/// Friends-of-friends groups (Davis, Efstathiou, Frenk & White 1985, ApJ 292, 371).
#pragma once

#include <memory>
#include <vector>

#include "zhalo/core/buffer.hpp"
#include "zhalo/core/types.hpp"
#include "zhalo/domain/domain.hpp"

namespace zhalo {

struct FofOptions {
  /// Two particles at distance r <= linking_length are friends. In the unit of the positions;
  /// positive, and at most half the length of a periodic axis.
  double linking_length = 0;
  /// Particles per tree leaf, 1 to 64. 0 chooses: 48 on a host, and 32 on a device or where the
  /// domain's tree is also that of neighbours (DomainOptions::min_length is 0). The leaf size
  /// changes the speed, never the groups.
  int leaf_size = 0;
  /// With several ranks: largest number of ghosts that a rank sends at a time, and about the
  /// largest that it receives. Ghosts are particles that may have friends on another rank. 0: an
  /// eighth of the rank's particles, at least 65536. It changes memory and speed, never the groups.
  Index ghost_batch = 0;
};

/// What the search did on this rank. On a single rank all counts but num_local are 0.
struct FofStatistics {
  Index num_local = 0;  ///< particles that this rank searched
  /// Particles sent to other ranks, where they may have friends. Of two ranks one sends, the one
  /// that has fewer to send.
  Index ghosts_sent = 0;
  Index ghosts_received = 0;
  Index max_ghosts_at_once = 0;  ///< the most that this rank received, and held, at a time
  /// Pairs of sets that are one group: one set is here and one is on a rank that sent ghosts. Some
  /// count more than once.
  Index edges = 0;
  Index rounds = 0;      ///< exchanges until the ranks agreed on the groups; equal on all ranks
  Index bytes_sent = 0;  ///< to other ranks, in all exchanges
};

/// The parts of groups that a rank's own links join. A group has one or more of them on each rank
/// where it has members. make_catalogue() counts members by them. There are none if no domain was
/// given.
struct LinkedParts {
  /// For each particle of the domain on this rank: the index of one particle, the same for all of
  /// its part. Memory of the context's Exec.
  Buffer<LocalIndex> root;
  /// Roots of the parts that may be of one group with parts of other ranks.
  std::vector<LocalIndex> crossing;
  /// The domain whose particles they are. It need not live.
  std::weak_ptr<const void> domain;
  /// Stands for the search that found the groups; what is attached to them has it, too.
  std::shared_ptr<const void> search;
};

/// The groups, and counts of particles.
struct FofResult {
  /// For each particle: the smallest global index in its group. Memory of the context's Exec.
  Buffer<Index> label;
  bool in_domain_order = false;  ///< a domain was given; else labels are in the caller's order
  LinkedParts parts;
  /// Particles over all ranks that were outside a periodic axis and were wrapped into it.
  Index num_wrapped = 0;
  Index num_total = 0;  ///< particles over all ranks
  FofStatistics statistics;
};

/// Finds the groups: the connected components of the graph that joins any two friends.
///
/// Collective. Particles may be in any order, on any rank; they are not changed. Links equal those
/// of float64 arithmetic on the given coordinates. The exception is a particle outside a periodic
/// axis: it is first wrapped, and rounded to the positions' precision. Labels do not depend on the
/// number of ranks or threads, nor on which rank has which particles. With several ranks,
/// coordinates are exchanged, but no other columns of the particles. Throws InputError for a
/// linking length that is not positive or too large, and for positions that are not finite, outside
/// a box that is not periodic, or 10^4 sides outside one that is (the message has their number and
/// the first global index); OutOfMemory.
template <class Real>
FofResult friends_of_friends(const Context& context, const Particles<Real>& particles,
                             const Box& box, const FofOptions& options);

/// The same for the first species of a domain. Particles are not sorted or redistributed again.
/// Labels are in the domain's order. Collective. Throws as above, and InputError if the square of
/// the linking length underflows beside the size of the domain. In float this happens for a linking
/// length below about 1e-32 of the largest coordinate.
template <class Real>
FofResult friends_of_friends(const Domain<Real>& domain, const FofOptions& options);

}  // namespace zhalo
