/// The whole contract between src and the backends: plain functions on views, overloaded on Host
/// and Cuda. Host versions are in kernels/host, Cuda versions in kernels/cuda or, in a build
/// without CUDA, in kernels/stub (they throw DeviceError).
#pragma once

#include "kernels/catalogue_views.hpp"
#include "kernels/fft.hpp"
#include "kernels/lpt_kernels.hpp"
#include "kernels/memory.hpp"
#include "kernels/mesh_kernels.hpp"
#include "kernels/mode_kernels.hpp"
#include "kernels/neighbour_views.hpp"
#include "kernels/on.hpp"
#include "kernels/paint_kernels.hpp"
#include "kernels/views.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/core/for_each.hpp"

namespace zhalo::kernels {

// ---------------------------------------------------------------- sort

/// Key-value pairs to sort, with as much room again to sort through.
struct SortPairs {
  Span<std::uint64_t> keys;
  Span<LocalIndex> values;
  Span<std::uint64_t> spare_keys;
  Span<LocalIndex> spare_values;
};

/// Sorts by the lowest `bits` bits of the keys (all others must be 0), stably: equal keys keep
/// their order. The result is in keys and values; the spare room holds anything.
void sort_pairs(const Host& exec, const SortPairs& pairs, int bits);
void sort_pairs(const Cuda& exec, const SortPairs& pairs, int bits);

// ---------------------------------------------------------------- domain
//
// The templates below are defined in kernels/common and instantiated for E = Host and Cuda and for
// Real = float and double.

/// One look at all positions, before anything is done with them.
template <class E, class Real>
PositionSummary summarize_positions(const E& exec, const ParticlesView<Real>& particles,
                                    const Box& box);

/// keys[i] = Morton key of particle i, order[i] = i.
template <class E, class Real>
void make_keys(const E& exec, const ParticlesView<Real>& particles, const KeyFrame& frame,
               Span<std::uint64_t> keys, Span<LocalIndex> order);

/// sorted[i] = wrapped and scaled position of particle order[i].
template <class E, class Real>
void gather_positions(const E& exec, const ParticlesView<Real>& particles, const KeyFrame& frame,
                      Span<const LocalIndex> order, const SortedPositions<Real>& sorted);

// ---------------------------------------------------------------- exchange

/// weights[i] = weight of the elements with keys below probes[i].
template <class E>
void weigh_below(const E& exec, const KeyWeights& sorted, Span<const std::uint64_t> probes,
                 Span<Index> weights);

/// places[i] = first place before which at least weights[i] lies.
template <class E>
void find_weights(const E& exec, Span<const Index> weight_before, Span<const Index> weights,
                  Span<Index> indices);

/// weight_before[i] = weight of the particles order[0] to order[i - 1], up to i = order.size().
/// Returns how many weigh nothing.
template <class E>
Index accumulate_weights(const E& exec, const Strided<std::uint32_t>& weight,
                         Span<const LocalIndex> order, Span<Index> weight_before);

/// global[i] = global index of the received element order[i], whose place on its rank is
/// place[order[i]].
template <class E>
void find_global(const E& exec, const SourcesView& sources, Span<const LocalIndex> index,
                 Span<const LocalIndex> order, Span<Index> global);

template <class E, class Real>
void clear(const E& exec, Span<Real> values);

/// places[i] = i.
template <class E>
void number(const E& exec, Span<LocalIndex> indices);

/// Element i of `to` = element at[i] of `from`; or element at[i] of `to` = element i of `from`. The
/// elements are `at`'s in number.
template <class E>
void gather(const E& exec, const MovedColumn& column, Span<const LocalIndex> at);
template <class E>
void scatter(const E& exec, const MovedColumn& column, Span<const LocalIndex> at);

// ---------------------------------------------------------------- tree

/// First element of each of the largest Morton cells with at most cut.most elements.
template <class E>
Buffer<LocalIndex> cut_cells(const E& exec, const CellCut& cut);

/// to[i] = keys[at[i]].
template <class E>
void gather_keys(const E& exec, Span<const std::uint64_t> keys, Span<const LocalIndex> at,
                 Span<std::uint64_t> to);

/// begin and end of every leaf.
template <class E>
void write_leaves(const E& exec, const LeafRanges& leaves);

/// Tight boxes of the leaves (level 0), or of one coarser level from the level below it.
template <class E, class Real>
void leaf_boxes(const E& exec, const TreeView<Real>& tree);
template <class E, class Real>
void level_boxes(const E& exec, const TreeView<Real>& tree, int level);

// ---------------------------------------------------------------- friends of friends

/// Makes the parent array and links the particles inside each leaf.
template <class E, class Real>
void link_inside(const E& exec, const FofView<Real>& fof);

/// Links the leaves with each other.
template <class E, class Real>
void link_between(const E& exec, const FofView<Real>& fof);

/// label[order[i]] = first_index + the smallest order[j] among the j in the set of i. `smallest` is
/// room for one element a particle.
template <class E>
void write_labels(const E& exec, const DisjointSets& sets, Span<const LocalIndex> order,
                  Span<LocalIndex> smallest, const LabelTarget& target);

// ---------------------------------------------------------------- friends of friends over ranks

/// This rank's particles within reach of any of the boxes, ascending.
template <class E, class Real>
Buffer<LocalIndex> select_ghosts(const E& exec, const GhostSearch<Real>& search);

/// roots[i] = root of the set of particles[i].
template <class E>
void find_roots(const E& exec, const DisjointSets& sets, Span<const LocalIndex> particles,
                Span<LocalIndex> roots);

/// One edge per ghost, none where it is in no set of this rank.
template <class E>
void find_edges(const E& exec, const DisjointSets& sets, const GhostsView& ghosts,
                Span<GhostEdge> edges);

/// begin and end of every leaf.
template <class E>
void write_even_leaves(const E& exec, const EvenLeaves& leaves);

/// smallest[root] = smallest global index in the root's set; something large where no root is.
template <class E>
void find_smallest(const E& exec, const DisjointSets& sets, Span<const Index> global,
                   Span<Index> smallest);

/// label[order[i]] = label_of_root[root of i].
template <class E>
void write_set_labels(const E& exec, const DisjointSets& sets, Span<const LocalIndex> order,
                      Span<const Index> label_of_root, Span<Index> label);

// ---------------------------------------------------------------- neighbours

/// Smallest global index of the particles below each node of search.tree, by its place in the
/// boxes' arrays.
template <class E, class Real>
void find_smallest_indices(const E& exec, const SearchView<Real>& search, Span<Index> smallest);

/// The k nearest of the tree's particles for each query in `num_leaves` leaves.
template <class E, class Real>
void find_nearest(const E& exec, const SearchView<Real>& search, Index num_leaves,
                  const BestRows<Real>& rows);

/// The tree's particles within reach of each query: counts, or (where rows.offset is given) what
/// was counted.
template <class E, class Real>
void find_within(const E& exec, const SearchView<Real>& search, Index num_leaves,
                 const WithinRows<Real>& rows);

/// Sorts rows of any length by (squared distance, global index).
template <class E, class Real>
void sort_rows(const E& exec, Span<const Index> offset, const WithinRows<Real>& rows,
               SearchColumn<Index> global_index);

/// Distances (in the unit of the positions) and global indices of `num` rows.
template <class E, class Real>
void write_rows(const E& exec, Index num, const BestRows<Real>& rows,
                SearchColumn<Index> global_index, const RowOutput<Real>& to);

/// Elements of a column at the neighbours of count.size() rows.
template <class E, class Real>
void gather_neighbours(const E& exec, const PlacedBytes& column, const BestRows<Real>& rows,
                       Span<const LocalIndex> count, const MissingBytes& to);

/// How far, squared, the rows of each leaf of queries reach: to the k-th neighbour, infinitely
/// where fewer were found.
template <class E, class Real>
void find_reach(const E& exec, const SearchView<Real>& search, const BestRows<Real>& rows,
                Span<Real> reach2);

/// The particles in leaves that a ball touches, ascending.
template <class E, class Real>
Buffer<LocalIndex> select_in_balls(const E& exec, const BallsView<Real>& balls);

/// The library's own reductions of rows.
template <class E, class Real>
void reduce_kth_radius(const E& exec, const NeighbourRows<Real>& rows, Span<double> results);
template <class E, class Real>
void reduce_mean_radius(const E& exec, const NeighbourRows<Real>& rows, Span<double> results);
template <class E, class Real>
void reduce_density(const E& exec, const NeighbourRows<Real>& rows, const QuantityColumns& columns,
                    SphKernel kernel, Span<double> results);
template <class E, class Real>
void reduce_dispersion(const E& exec, const NeighbourRows<Real>& rows,
                       const QuantityColumns& columns, Span<double> results);

/// Where the particles that were received and sorted came from.
template <class E>
void find_origins(const E& exec, const SourcesView& sources, Span<const LocalIndex> order,
                  Span<const Index> global_index, Span<ParticleLocation> origins);

// ---------------------------------------------------------------- catalogue

/// Looks for masses that are not positive and finite, and types beyond num_types.
template <class E, class Real>
ColumnSummary summarize_columns(const E& exec, const ParticlesView<Real>& particles, int num_types);

/// Labels that are neither no_group nor in [0, num_total).
template <class E>
Index count_bad_labels(const E& exec, Span<const Index> label, Index num_total);

/// marks[i] = 1 if particle i is of one of the types, else 0.
template <class E, class Real>
void mark_types(const E& exec, const ParticlesView<Real>& particles, const TypeSet& types,
                Span<LocalIndex> marks);

/// label[i] = candidate[i], or no_group where neighbour[i] is negative: there is none.
template <class E>
void take_labels(const E& exec, Span<const Index> neighbour, Span<const Index> candidate,
                 Span<Index> label);

// Of one rank that works alone: labels are places of its own particles.

/// counts[root] = members of the root's group; 0 where no root is. With marks (1 or 0 for each
/// particle), the marked members.
template <class E>
void count_labels(const E& exec, const LabelsView& labels, Span<LocalIndex> counts);
template <class E>
void count_marked_labels(const E& exec, const LabelsView& labels, Span<const LocalIndex> marks,
                         Span<LocalIndex> counts);

/// Roots of the groups with at least `least` members, ascending.
template <class E>
Buffer<LocalIndex> select_groups(const E& exec, Span<const LocalIndex> counts, Index least);

/// Keys that sort groups by size, largest first.
template <class E>
void make_size_keys(const E& exec, Span<const LocalIndex> counts, Span<const LocalIndex> roots,
                    Span<std::uint64_t> keys);

/// Takes the lengths of the groups in the order of `roots`, then replaces the count at each root by
/// its row.
template <class E>
void number_rows(const E& exec, Span<const LocalIndex> roots, Span<LocalIndex> counts_to_rows,
                 Span<Index> length);

/// group_of[i] = row of particle i's group, or no_group.
template <class E>
void assign_groups(const E& exec, const LabelsView& labels, Span<const LocalIndex> rows,
                   Span<Index> group_of);

/// Places of the particles that belong to a group, ascending; and keys that sort them into group
/// order.
template <class E>
Buffer<LocalIndex> select_members(const E& exec, Span<const Index> group_of);
template <class E>
void make_member_keys(const E& exec, Span<const Index> group_of, Span<const LocalIndex> members,
                      Span<std::uint64_t> keys);

/// indices[i] = first_index + places[i].
template <class E>
void make_global(const E& exec, Span<const LocalIndex> local, Index first_index,
                 Span<Index> indices);

/// Copies the elements at the global indices, one behind the other.
template <class E>
void gather_elements(const E& exec, const ElementsView& elements, Span<const Index> indices,
                     void* to);

// Of ranks that work together: labels, lengths and rows are sorted and seen as runs.

/// First element of each run of equal keys.
template <class E>
Buffer<LocalIndex> select_run_starts(const E& exec, Span<const std::uint64_t> keys);

/// Elements of each run; what they weigh, given the weight before each element and of all (size +
/// 1); sums over each run of the values (which lie in the former order).
template <class E>
void count_runs(const E& exec, const RunsView& runs, Span<LocalIndex> counts);
template <class E>
void weigh_runs(const E& exec, const RunsView& runs, Span<const Index> weight_before,
                Span<LocalIndex> weights);
template <class E>
void sum_runs(const E& exec, const RunsView& runs, Span<const LocalIndex> values, Span<Index> sums);
/// to[i] = value of the run that element i (in the former order) is in.
template <class E>
void spread_runs(const E& exec, const RunsView& runs, Span<const Index> values, Span<Index> to);

/// The places with at least that length; and keys that sort lengths, the longest first.
template <class E>
Buffer<LocalIndex> select_long(const E& exec, Span<const Index> lengths, Index least);
template <class E>
void make_length_keys(const E& exec, Span<const Index> lengths, Index longest,
                      Span<std::uint64_t> keys);

template <class E>
void fill(const E& exec, Span<Index> to, Index value);
/// to[at[i]] = first + i.
template <class E>
void scatter_numbers(const E& exec, Span<const LocalIndex> at, Index first, Span<Index> to);

/// Copies the chosen particles' columns.
template <class E, class Real>
void pack_particles(const E& exec, const ParticlesView<Real>& particles, Span<const LocalIndex> at,
                    const PackedColumns<Real>& to);

// Sums over members.

/// From ascending rows without gaps, one per member, where each row begins, and the end.
template <class E>
void find_rows(const E& exec, Span<const std::uint64_t> rows, Span<Index> offset);

/// Owns what BlocksView shows.
struct GroupBlocks {
  Buffer<Index> first_block;
  Buffer<LocalIndex> group;

  BlocksView view(Span<const Index> offset) const {
    return {offset, first_block.span(), group.span()};
  }
};
template <class E>
GroupBlocks make_blocks(const E& exec, Span<const Index> offset);

/// Position of each group's first member.
template <class E, class Real>
void first_positions(const E& exec, const MembersView<Real>& members, Span<Vec3d> origin);

/// Sums of each group about its origin; and the columns that follow from them.
template <class E, class Real>
void sum_moments(const E& exec, const MembersView<Real>& members, Span<const Vec3d> origin,
                 Span<Moments> sums);
template <class E>
void finish_moments(const E& exec, const KeyFrame& frame, Span<const Vec3d> origin,
                    Span<const Moments> sums, Span<GroupRow> rows);

/// Sums of each group about its centre and its mean velocity; and the columns that follow from
/// them.
template <class E, class Real>
void sum_spreads(const E& exec, const MembersView<Real>& members, Span<const GroupRow> rows,
                 Span<Spreads> sums);
template <class E>
void finish_spreads(const E& exec, Span<const Spreads> sums, int dimensions, Span<GroupRow> rows);

/// Members and mass of each group and type.
template <class E, class Real>
void sum_types(const E& exec, const MembersView<Real>& members, const TypeSums& sums);

}  // namespace zhalo::kernels
