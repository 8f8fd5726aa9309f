/// Friends-of-friends groups (Davis, Efstathiou, Frenk & White 1985, ApJ 292, 371).
#pragma once

#include "zhalo/core/box.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/domain/particles.hpp"

namespace zhalo {

struct FofOptions {
  /// Two particles at distance r <= linking_length are friends; in the unit of the positions, > 0, at most half a periodic axis.
  double linking_length = 0;
  /// Particles per tree leaf, 1 to 64: changes the speed, never the groups.
  int leaf_size = 32;
};

/// The groups, and what was met on the way.
struct FofResult {
  /// For each particle of this rank, in the caller's order: the smallest global index in its group. Memory of the context's Exec.
  Buffer<Index> label;
  Index num_wrapped = 0;  ///< particles over all ranks that lay outside a periodic axis and were wrapped into it
  Index num_total = 0;    ///< particles over all ranks
};

/// Finds the groups: the connected components of the graph that joins any two friends.
///
/// Collective; the particles are of any order and place. Float positions are decided as float64 arithmetic on the given coordinates
/// would decide, double positions in float64; a particle beyond a periodic edge is moved inside first, and rounded to the positions'
/// precision. One rank, so far. Throws InputError for a linking length that is not positive or too large, for positions
/// that are not finite or lie outside a box without periodicity (how many, and the first one's global index), OutOfMemory.
template <class Real>
FofResult friends_of_friends(const Context& context, const Particles<Real>& particles, const Box& box,
                             const FofOptions& options);

extern template FofResult friends_of_friends(const Context&, const Particles<float>&, const Box&, const FofOptions&);
extern template FofResult friends_of_friends(const Context&, const Particles<double>&, const Box&, const FofOptions&);

}  // namespace zhalo
