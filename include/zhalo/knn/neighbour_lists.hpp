/// Lists of neighbours, made chunk by chunk so that they never exist all at once. knn, the
/// reductions and the searches within a radius are built on them.
#pragma once

#include <memory>
#include <vector>

#include "zhalo/core/neighbours.hpp"
#include "zhalo/knn/knn.hpp"

namespace zhalo {

/// What to list for each query: the k nearest neighbours within max_radius or, with k == 0, all
/// neighbours within max_radius, which must then be finite.
struct NeighbourSearch {
  int k = 0;
  int min_k = 0;  ///< smallest valid k: 1 for kNN, 0 for radius searches
  double max_radius = std::numeric_limits<double>::infinity();
  bool include_self = true;
  int leaf_size = 32;
  Index chunk_bytes = 0;
  std::vector<ColumnView> columns{};  ///< of the particles
  bool counts_only = false;           ///< with k == 0: only counts, no lists

  NeighbourSearch() = default;
  NeighbourSearch(const KnnOptions& options, std::vector<ColumnView> carried)
      : k(options.k),
        min_k(1),
        max_radius(options.max_radius),
        include_self(options.include_self),
        leaf_size(options.leaf_size),
        chunk_bytes(options.chunk_bytes),
        columns(std::move(carried)) {}
};

/// Iterates over chunks of queries. The constructor, next(), queue_next() and put() are collective.
/// All ranks see the same number of chunks; some may be empty.
///
///   NeighbourLists<Real> lists(context, particles, box, search);
///   while (lists.next()) { ... lists.rows() ... lists.put(values, sizeof(T), result); }
template <class Real>
class NeighbourLists {
 public:
  /// Sorts particles and queries and builds the tree, or takes those of a domain (then the box is
  /// the domain's). Throws as knn(). The context must outlive it.
  NeighbourLists(const Context& context, const KnnTargets<Real>& targets, const Box& box,
                 const NeighbourSearch& search);

  /// Makes the lists of the next chunk; false if there are no more. Views from rows() and column()
  /// are then invalid.
  bool next();
  /// The same, but the lists are only queued on the Exec: a device may still be at work on them.
  /// For callers that queue what they do with the rows, too. When it returns false, all that was
  /// queued is done.
  bool queue_next();
  const NeighbourRows<Real>& rows() const;
  /// Column number i of the search, for the particles of the rows.
  template <class T>
  SearchColumn<T> column(int i) const {
    return column_view(i, static_cast<Index>(sizeof(T))).template as<T>();
  }
  /// The same without its type. InputError if there is no such column or its elements have another
  /// size.
  SearchColumnView column_view(int i, Index element_size) const;

  /// Sends one value per row of this chunk (in the order of rows) to the rank of the query.
  /// `result` has one element for each query of this rank, in the caller's order, or in a domain's
  /// order if the search is in a domain.
  void put(const void* values, Index element_size, void* result);
  /// Result row of each row of this chunk, for kernels that write results in place. Empty if
  /// results must go through put(): on several ranks, and in a domain. Not collective. The view is
  /// of memory of the Exec, and valid until the next chunk.
  Span<const LocalIndex> result_rows() const;

  Index num_queries() const;   ///< on this rank, in the order of results
  Index num_searched() const;  ///< rows over all chunks on this rank
  const KnnStatistics& statistics() const;

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace zhalo
