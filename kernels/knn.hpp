/// Searches for neighbours. Lengths are scaled like the sorted coordinates.
///
/// Templates are defined in kernels/common/knn, for Host and Cuda, float and double.
#pragma once

#include <optional>
#include <type_traits>

#include "kernels/tree.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/core/neighbours.hpp"
#include "zhalo/core/reductions.hpp"

namespace zhalo::kernels {

// ---------------------------------------------------------------- searches

/// An index that stands for no particle.
inline constexpr LocalIndex no_index = ~LocalIndex{0};

/// What a search had to look at.
struct SearchWork {
  Index leaves = 0;  ///< visited by queries, one by one
  Index pairs = 0;   ///< distances computed in them
};

/// A tree to search in, and queries: those of some leaves of another tree, or of the same.
template <class Real>
struct SearchView {
  TreeView<Real> tree;
  /// By local index; the tree's particles have [first_local_index, first_local_index + pos.num).
  SearchColumn<Index> global_index;
  LocalIndex first_local_index = 0;
  Span<const Index> smallest_index;  ///< of the particles below each node of the tree

  TreeView<Real> queries;
  Index first_leaf = 0;                ///< of the leaves whose queries are looked at
  LocalIndex first_query = 0;          ///< that belongs to row 0
  bool queries_are_particles = false;  ///< the queries' tree is the tree
  bool leave_out_self = false;

  Real period[3] = {};   ///< infinite where not periodic
  Real edge_lo[3] = {};  ///< of the box, infinite where not periodic
  Real edge_hi[3] = {};
  Real reach2 = 0;             ///< squared: neighbours further away are none
  SearchWork* work = nullptr;  ///< sums, or none
};

/// Smallest global index of the particles below each node of search.tree, by its index in the
/// boxes' arrays.
template <class E, class Real>
void find_smallest_indices(const E& exec, const SearchView<Real>& search, Span<Index> smallest);

/// In place of the count of a row that is to be searched again: neighbours that are just as far as
/// its last may be missing. Its last distance is right.
inline constexpr LocalIndex tied_row = ~LocalIndex{0};

/// Rows of the k nearest so far, ascending by (squared distance, global index).
template <class Real>
struct BestRows {
  Index k = 0;
  Real* distance2 = nullptr;
  LocalIndex* local_index = nullptr;
  LocalIndex* count = nullptr;
  bool resume = false;     ///< rows hold what was found elsewhere; else they begin empty
  bool only_tied = false;  ///< only tied rows are searched, from the beginning; others stay
};

/// Rows of all neighbours within reach, in no order.
template <class Real>
struct WithinRows {
  LocalIndex* count = nullptr;    ///< of each row: neighbours found so far
  const Index* offset = nullptr;  ///< of each row's first element; none: count only
  Real* distance2 = nullptr;
  LocalIndex* local_index = nullptr;
};

/// The k nearest of the tree's particles for each query in `num_leaves` leaves.
template <class E, class Real>
void find_nearest(const E& exec, const SearchView<Real>& search, Index num_leaves,
                  const BestRows<Real>& rows);

/// The tree's particles within reach of each query: counts, or (where rows.offset is given) what
/// was counted.
template <class E, class Real>
void find_within(const E& exec, const SearchView<Real>& search, Index num_leaves,
                 const WithinRows<Real>& rows);

// ---------------------------------------------------------------- chunks of queries

/// Leaves [first_leaf, first_leaf + num_leaves) and their queries.
struct QueryChunk {
  Index first_leaf = 0;
  Index num_leaves = 0;
  Index first_query = 0;
  Index num_queries = 0;
};

/// Cuts the leaves from first_leaf on into chunks, as many as there is room for: each holds at most
/// so many queries, but at least one query if there is any left.
template <class E, class Real>
void cut_queries(const E& exec, const TreeView<Real>& queries, Index first_leaf, Index max_queries,
                 Span<QueryChunk> chunks);

/// A chunk and the number of neighbours of each of its queries.
template <class Real>
struct ChunkCounts {
  TreeView<Real> queries;
  QueryChunk chunk;
  Span<const LocalIndex> count;
  Span<Index> offset;  ///< room for one more than there are queries
};

/// A chunk, and the neighbours of all its queries.
struct ListedChunk {
  QueryChunk chunk;
  Index num_neighbours = 0;
};

/// The first leaves of the chunk with at most `max_neighbours` neighbours together, but at least
/// one leaf that is not empty. Makes the offset of each query's neighbours, and of the end. Waits
/// for a device.
template <class E, class Real>
ListedChunk list_chunk(const E& exec, const ChunkCounts<Real>& counts, Index max_neighbours);

// ---------------------------------------------------------------- rows of neighbours

/// Where rows of the k nearest go; what is empty is not wanted.
template <class Real>
struct RowOutput {
  Span<Real> distance;
  Span<Index> index;
  Span<const LocalIndex> result_row{};  ///< the row that each becomes; empty: they keep their order
  double unit = 1;                      ///< of the rows' lengths, in that of the positions
};

/// Where elements of neighbours go, and the byte that fills those of no neighbour.
struct MissingBytes {
  void* to = nullptr;
  unsigned char missing = 0;
};

/// Sorts rows of any length by (squared distance, global index).
template <class E, class Real>
void sort_rows(const E& exec, Span<const Index> offset, const WithinRows<Real>& rows,
               SearchColumn<Index> global_index);

/// Distances (in the unit of the positions) and global indices of rows of k.
template <class E, class Real>
void write_rows(const E& exec, const NeighbourRows<Real>& rows, const RowOutput<Real>& to);

/// Elements of a column at the neighbours of rows of k.
template <class E, class Real>
void gather_neighbours(const E& exec, const SearchColumnView& column,
                       const NeighbourRows<Real>& rows, const MissingBytes& to);

/// Stands for a column of masses that are all the same.
struct EqualMasses {
  double mass = 1;
  ZHALO_HD double operator[](Index) const { return mass; }
};

/// What built-in reductions see of the neighbours; velocities lie row by row, `dimensions` numbers
/// each.
struct QuantityColumns {
  SearchColumn<double> mass;
  std::optional<EqualMasses> equal_masses;  ///< in place of `mass`
  SearchColumn<double> velocity;
  int dimensions = 3;
};

/// Columns that a reduction takes behind the neighbours: none, masses, or masses and velocities.
template <class Reduction>
inline constexpr int num_columns_of =
    std::is_invocable_v<Reduction, Neighbours<double>>                            ? 0
    : std::is_invocable_v<Reduction, Neighbours<double>, NeighbourColumn<double>> ? 1
                                                                                  : 2;
inline int num_columns(const QuantityOptions& wanted) {
  return with_reduction<3>(wanted, [](const auto& reduction) {
    return num_columns_of<std::decay_t<decltype(reduction)>>;
  });
}

/// What a backend reduces with in place of a built-in reduction; it gives the same bits.
template <class E, class Reduction>
struct ReductionOn {
  using type = Reduction;
};

/// results[i] = the built-in reduction of row i.
template <class E, class Real>
void reduce_rows(const E& exec, const NeighbourRows<Real>& rows, const QuantityColumns& columns,
                 const QuantityOptions& wanted, Span<double> results);

// ---------------------------------------------------------------- what other ranks have to search

/// A box of queries and how far they reach, squared.
template <class Real>
struct Ball {
  Real lo[3];
  Real hi[3];
  Real reach2;
};

/// A tree, and balls that touch some of its leaves.
template <class Real>
struct BallsView {
  TreeView<Real> tree;
  Span<const Ball<Real>> balls;
  Real period[3] = {};
};

/// Ranks that follow each other are near each other, so one hull around many of them says of most
/// balls that none of them is near.
inline constexpr int hulls_of_group = 64;

/// The leaves of a chunk of queries, and what other ranks have.
template <class Real>
struct ReachingLeaves {
  SearchView<Real> search;
  Index num_leaves = 0;
  BestRows<Real> rows;                ///< their k nearest so far; without counts: none
  Span<const CoarseBox> hulls;        ///< around the particles of each other rank
  Span<const CoarseBox> group_hulls;  ///< around each hulls_of_group of them
};

/// Balls of the leaves that may reach into one of the hulls: to the k-th neighbour, or as far as
/// the search where fewer were found or none were looked for. Waits for a device.
template <class E, class Real>
Buffer<Ball<Real>> select_balls(const E& exec, const ReachingLeaves<Real>& leaves);

/// The particles in leaves that a ball touches, ascending.
template <class E, class Real>
Buffer<LocalIndex> select_in_balls(const E& exec, const BallsView<Real>& balls);

}  // namespace zhalo::kernels
