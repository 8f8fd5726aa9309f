/// Friends-of-friends groups (Davis, Efstathiou, Frenk & White 1985, ApJ 292, 371).
#pragma once

#include "zhalo/core/box.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/domain/domain.hpp"

namespace zhalo {

struct FofOptions {
  /// Two particles at distance r <= linking_length are friends; in the unit of the positions, > 0,
  /// at most half a periodic axis.
  double linking_length = 0;
  /// Particles per tree leaf, 1 to 64: changes the speed, never the groups.
  int leaf_size = 32;
  /// With several ranks: most particles that a rank sends at a time to those that may hold friends
  /// of them; 0: an eighth of its own, at least 65536. Changes memory and speed, never the groups.
  Index ghost_batch = 0;
};

/// What the search did on this rank. Counts but num_local are 0 on a single rank.
struct FofStatistics {
  Index num_local = 0;        ///< particles that this rank searched
  Index ghosts_sent = 0;      ///< particles sent to higher ranks that may hold friends of them
  Index ghosts_received = 0;  ///< particles that lower ranks sent
  Index edges = 0;   ///< pairs of sets, one here and one on a lower rank, that were found to be one
                     ///< group; some more than once
  Index rounds = 0;  ///< exchanges until all ranks agreed on the groups; the same on all ranks
  Index bytes_sent = 0;  ///< to other ranks, in all exchanges
};

/// The groups, and what was met on the way.
struct FofResult {
  /// For each particle: the smallest global index in its group. In the domain's order if a domain
  /// was given, else in the caller's. Memory of the context's Exec.
  Buffer<Index> label;
  Index num_wrapped =
      0;  ///< particles over all ranks that lay outside a periodic axis and were wrapped into it
  Index num_total = 0;  ///< particles over all ranks
  FofStatistics statistics;
};

/// Finds the groups: the connected components of the graph that joins any two friends.
///
/// Collective. Particles may be in any order, on any rank; they are not changed. Links equal those
/// of float64 arithmetic on the given coordinates. A particle beyond a periodic edge is moved
/// inside first, and rounded to the positions' precision. Labels do not depend on the number of
/// ranks or threads, nor on how the particles are spread over ranks. With several ranks only
/// coordinates travel. Throws InputError for a linking length that is not positive or too large,
/// and for positions that are not finite or lie outside a box without periodicity (how many, and
/// the first one's global index); OutOfMemory.
template <class Real>
FofResult friends_of_friends(const Context& context, const Particles<Real>& particles,
                             const Box& box, const FofOptions& options);

/// The same in the first species of a domain. Nothing is sorted or sent again. Labels are in the
/// domain's order. Collective. Throws as above, and InputError for a linking length that is so
/// small beside the domain that its square underflows (in float below about 1e-30 of the domain's
/// size).
template <class Real>
FofResult friends_of_friends(const Domain<Real>& domain, const FofOptions& options);

extern template FofResult friends_of_friends(const Domain<float>&, const FofOptions&);
extern template FofResult friends_of_friends(const Domain<double>&, const FofOptions&);
extern template FofResult friends_of_friends(const Context&, const Particles<float>&, const Box&,
                                             const FofOptions&);
extern template FofResult friends_of_friends(const Context&, const Particles<double>&, const Box&,
                                             const FofOptions&);

}  // namespace zhalo
