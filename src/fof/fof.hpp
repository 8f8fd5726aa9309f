/// What the files of src/fof tell each other: linking lengths, components, and ghosts.
#pragma once

#include <vector>

#include "kernels/fof.hpp"
#include "src/domain/domain_state.hpp"
#include "src/tree/tree.hpp"
#include "zhalo/comm/communicator.hpp"
#include "zhalo/fof/fof.hpp"

namespace zhalo {

// Linking lengths as kernels compare them: scaled, and with what rounding leaves in doubt.

/// Fills in all lengths, scaled.
template <class Real>
void set_lengths(kernels::FofView<Real>& fof, const Box& box, double linking_length, double scale);

/// Scaled to a linking length between 1 and 2, exactly; but no coordinate may overflow, however
/// small the linking length.
template <class Real>
double scale_for(double linking_length, const Box& box, const Extent& extent);

/// Throws InputError if squares of the scaled linking length overflow or underflow.
template <class Real>
void validate_scale(double linking_length, double scale);

/// True if there are no particles, too.
bool all_at_one_position(const Extent& extent, int dimensions);

/// A linking length that joins the same particles of the domain and whose square is in range. No
/// two are farther apart than the diagonal of their extent. On periodic axes that is the box: where
/// particles are wrapped, rounding may move them out of the extent. If all are at one position, or
/// there are none, any length will do.
template <class Real>
double equivalent_link(const DomainState<Real>& domain, double linking_length);

// Joining the sets of one rank with those of others: ghosts, edges, and components.

/// Numbers that count over all ranks: rank r owns [first[r], first[r + 1]).
struct Numbering {
  std::vector<Index> first;  ///< by rank, and the end

  int owner(Index number) const;
};

/// Edges between this rank's nodes and those of others, by the other rank: those with rank r are
/// node[offset[r]] to node[offset[r + 1] - 1]. The two ranks of a pair hold the same edges in the
/// same order, each with its own node (its number).
struct CrossingEdges {
  std::vector<Index> node;
  std::vector<Index> offset;  ///< size() + 1
};

/// A node that has an edge, and the component that it is in: the smallest number of its nodes.
struct ComponentOf {
  Index node = 0;
  Index component = 0;
};

struct Components {
  std::vector<ComponentOf> nodes;  ///< of this rank, by ascending node
  Index rounds = 0;                ///< of the exchange, the same on all ranks
};

/// Collective. Each round, every node takes the smallest grandparent of its neighbours as its own
/// parent and hands it to its parent, and parents are replaced by grandparents (after Zhang, Azad &
/// Hu 2020, SIAM PP, "FastSV: a distributed-memory connected component algorithm with fast
/// convergence"). The rounds grow with the logarithm of the number of edges in a path.
Components find_components(const Communicator& comm, const Numbering& numbering,
                           const CrossingEdges& edges);

/// For each of this rank's nodes a value; replaces it by the smallest value in the node's
/// component. Collective.
void take_smallest(const Communicator& comm, const Numbering& numbering,
                   const Components& components, std::vector<Index>& value);

/// This rank's particles, linked among themselves.
template <class Real>
struct LinkedSets {
  kernels::FofView<Real> fof;
  Buffer<LocalIndex>
      parent;  ///< of the sets: one element per particle, and room for ghosts once there were any
  Index num = 0;
  Numbering numbering;  ///< of the particles of all ranks, in Z-order
};

/// Of each two ranks one sends the particles that may have friends on the other one there, a
/// bounded number at a time. Links those that come with this rank's own. Returns the edges between
/// this rank's sets and others'. Collective.
template <class Real>
CrossingEdges link_across_ranks(const Context& context, LinkedSets<Real>& particles,
                                const FofOptions& options, FofStatistics& statistics);

}  // namespace zhalo
