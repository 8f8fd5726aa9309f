/// Rows of neighbours: reduced, in order, as results, with elements of columns; and their chunks.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include "kernels/common/arithmetic.hpp"
#include "kernels/common/backend.hpp"
#include "kernels/knn.hpp"

namespace zhalo::kernels {

// Reductions of rows.

/// A reduction that takes masses, without a column of them.
template <class Reduction>
struct OfEqualMasses : HeldFunctor<Reduction> {
  EqualMasses mass;

  template <class Real, class... Columns>
  ZHALO_HD double operator()(const Neighbours<Real>& near, const Columns&... columns) const {
    return this->functor()(near, mass, columns...);
  }
};

template <int dimensions, class E, class Real>
void reduce_rows_in(const E& exec, const NeighbourRows<Real>& rows, const QuantityColumns& columns,
                    const QuantityOptions& wanted, Span<double> results) {
  using Velocity = Vec<double, dimensions>;
  const SearchColumn<Velocity> velocity{reinterpret_cast<const Velocity*>(columns.velocity.own),
                                        reinterpret_cast<const Velocity*>(columns.velocity.fetched),
                                        columns.velocity.num_own};
  with_reduction<dimensions>(wanted, [&](const auto& built_in) {
    using Reduction = typename ReductionOn<E, std::decay_t<decltype(built_in)>>::type;
    const Reduction reduction{built_in};
    using OfEqual = OfEqualMasses<Reduction>;
    const OfEqual of_equal{{reduction}, columns.equal_masses.value_or(EqualMasses{})};
    if constexpr (num_columns_of<Reduction> == 0) {
      using Reduce = ReduceRow<Real, Reduction, double>;
      for_each(exec, rows.num, Reduce{{reduction}, rows, {}, results});
    } else if constexpr (num_columns_of<Reduction> == 1) {
      using Reduce = ReduceRow<Real, Reduction, double, double>;
      using ReduceEqual = ReduceRow<Real, OfEqual, double>;
      if (columns.equal_masses)
        return for_each(exec, rows.num, ReduceEqual{{of_equal}, rows, {}, results});
      for_each(exec, rows.num, Reduce{{reduction}, rows, {columns.mass, {}}, results});
    } else {
      using Reduce = ReduceRow<Real, Reduction, double, double, Velocity>;
      using ReduceEqual = ReduceRow<Real, OfEqual, double, Velocity>;
      if (columns.equal_masses)
        return for_each(exec, rows.num, ReduceEqual{{of_equal}, rows, {velocity, {}}, results});
      for_each(exec, rows.num, Reduce{{reduction}, rows, {columns.mass, {velocity, {}}}, results});
    }
  });
}

template <class E, class Real>
void reduce_rows(const E& exec, const NeighbourRows<Real>& rows, const QuantityColumns& columns,
                 const QuantityOptions& wanted, Span<double> results) {
  if (columns.dimensions == 3) return reduce_rows_in<3>(exec, rows, columns, wanted, results);
  reduce_rows_in<2>(exec, rows, columns, wanted, results);
}

ZHALO_INSTANTIATE_REALS(reduce_rows);

// Rows in order, as results, with elements of columns.

/// Heap sort of one row by (squared distance, global index): in place, no recursion, n log n
/// always.
template <class Real>
struct SortRow {
  static constexpr bool long_elements = true;
  Span<const Index> offset;
  Real* distance2;
  LocalIndex* index;
  SearchColumn<Index> global_index;

  ZHALO_HD void operator()(Index row) const {
    const Index first = offset[row];
    const Index num = offset[row + 1] - first;
    for (Index i = num / 2; i-- > 0;) sift_down(first, i, num);
    for (Index end = num - 1; end > 0; --end) {
      swap(first, first + end);
      sift_down(first, 0, end);
    }
  }

 private:
  ZHALO_HD bool less(Index a, Index b) const {
    if (distance2[a] != distance2[b]) return distance2[a] < distance2[b];
    return global_index[index[a]] < global_index[index[b]];
  }
  ZHALO_HD void swap(Index a, Index b) const {
    const Real r2 = distance2[a];
    distance2[a] = distance2[b];
    distance2[b] = r2;
    const LocalIndex p = index[a];
    index[a] = index[b];
    index[b] = p;
  }
  ZHALO_HD void sift_down(Index first, Index root, Index num) const {
    while (2 * root + 1 < num) {
      Index child = 2 * root + 1;
      if (child + 1 < num && less(first + child, first + child + 1)) ++child;
      if (!less(first + root, first + child)) return;
      swap(first + root, first + child);
      root = child;
    }
  }
};

template <class E, class Real>
void sort_rows(const E& exec, Span<const Index> offset, const WithinRows<Real>& rows,
               SearchColumn<Index> global_index) {
  for_each(exec, offset.size() - 1,
           SortRow<Real>{offset, rows.distance2, rows.local_index, global_index});
}

/// Rows of k as a user gets them: missing neighbours are at infinity and have no index.
template <class Real>
struct WriteRow {
  static constexpr bool long_elements = true;
  static constexpr Real infinity = std::numeric_limits<Real>::infinity();
  NeighbourRows<Real> rows;
  RowOutput<Real> to;

  ZHALO_HD void prefetch(Index row) const {
    const Index first = result_row_of(row) * rows.k;
    if (!to.distance.empty()) prefetch_line(&to.distance[first]);
    if (!to.index.empty()) prefetch_line(&to.index[first]);
  }

  ZHALO_HD void operator()(Index row) const {
    const Index found = rows.count[row];
    const Index from = row * rows.k;
    const Index first = result_row_of(row) * rows.k;
    if (!to.distance.empty()) {
      for (Index i = 0; i < found; ++i) to.distance[first + i] = distance(from + i);
      for (Index i = found; i < rows.k; ++i) to.distance[first + i] = infinity;
    }
    if (to.index.empty()) return;
    for (Index i = 0; i < found; ++i) to.index[first + i] = index(from + i);
    for (Index i = found; i < rows.k; ++i) to.index[first + i] = -1;
  }

  ZHALO_HD Index result_row_of(Index row) const {
    return to.result_row.empty() ? row : Index{to.result_row[row]};
  }
  ZHALO_HD Real distance(Index at) const {
    const Real r = square_root(rows.distance2[at]);
    return static_cast<Real>(static_cast<double>(r) * to.unit);
  }
  ZHALO_HD Index index(Index at) const { return rows.global_index[rows.local_index[at]]; }

 private:
  ZHALO_HD static float square_root(float x) { return sqrtf(x); }
  ZHALO_HD static double square_root(double x) { return sqrt(x); }
};

/// The same for one element of a row: threads of a device that follow each other write what lies
/// side by side.
template <class Real>
struct WriteElement {
  WriteRow<Real> of_row;

  ZHALO_HD void operator()(Index at) const {
    const Index k = of_row.rows.k;
    const Index row = at / k;
    const Index i = at - row * k;
    const bool is_found = i < Index{of_row.rows.count[row]};
    const Index element = of_row.result_row_of(row) * k + i;
    const RowOutput<Real>& to = of_row.to;
    if (!to.distance.empty())
      to.distance[element] = is_found ? of_row.distance(at) : WriteRow<Real>::infinity;
    if (!to.index.empty()) to.index[element] = is_found ? of_row.index(at) : Index{-1};
  }
};

template <class E, class Real>
void write_rows(const E& exec, const NeighbourRows<Real>& rows, const RowOutput<Real>& to) {
  if constexpr (std::is_same_v<E, Host>) {
    for_each(exec, rows.num, WriteRow<Real>{rows, to});
  } else {
    for_each(exec, rows.num * rows.k, WriteElement<Real>{{rows, to}});
  }
}

/// to[row][i] = element of the row's i-th neighbour; bytes `missing` where there is none.
struct GatherNeighbour {
  SearchColumnView column;
  Index k;
  Span<const LocalIndex> count;
  const LocalIndex* index;
  unsigned char missing;
  void* to;

  ZHALO_HD void operator()(Index at) const {
    const Index size = column.own.element_size;
    unsigned char* element = static_cast<unsigned char*>(to) + at * size;
    if (at % k >= Index{count[at / k]}) {
      for (Index b = 0; b < size; ++b) element[b] = missing;
      return;
    }
    const Index p = index[at];
    const bool is_own = p < column.own.num;
    const void* part = is_own ? column.own.data : column.fetched.data;
    const auto* from =
        static_cast<const unsigned char*>(part) + (is_own ? p : p - column.own.num) * size;
    for (Index b = 0; b < size; ++b) element[b] = from[b];
  }
};

template <class E, class Real>
void gather_neighbours(const E& exec, const SearchColumnView& column,
                       const NeighbourRows<Real>& rows, const MissingBytes& to) {
  for_each(exec, rows.num * rows.k,
           GatherNeighbour{column, rows.k, rows.count, rows.local_index, to.missing, to.to});
}

ZHALO_INSTANTIATE_REALS(sort_rows);
ZHALO_INSTANTIATE_REALS(write_rows);
ZHALO_INSTANTIATE_REALS(gather_neighbours);

// Chunks of queries, found where the tree is: the host learns of the chunks, not of the leaves.

/// The leaves [first, end) of queries.
template <class Real>
ZHALO_HD QueryChunk chunk_of_leaves(const TreeView<Real>& queries, Index first, Index end) {
  const Index before = queries.particles_before(first);
  return {first, end - first, before, queries.particles_before(end) - before};
}

/// One after the other, by one thread: each begins where the one before ends.
template <class Real>
struct CutQueries {
  static constexpr bool long_elements = true;
  TreeView<Real> queries;
  Index first_leaf;
  Index max_queries;
  Span<QueryChunk> chunks;

  ZHALO_HD void operator()(Index) const {
    Index leaf = first_leaf;
    for (QueryChunk& chunk : chunks) {
      chunk = chunk_of_leaves(queries, leaf, end_of_chunk(leaf));
      leaf += chunk.num_leaves;
    }
  }

 private:
  /// The last leaf before which there are not too many queries; then, if that is none, the leaf
  /// that has some.
  ZHALO_HD Index end_of_chunk(Index leaf) const {
    const Index before = queries.particles_before(leaf);
    const Index fits = first_index_where(queries.level_size[0] - leaf, [&](Index i) {
      return queries.particles_before(leaf + i + 1) > before + max_queries;
    });
    const Index end = leaf + fits;
    return end < queries.level_size[0] && queries.particles_before(end) == before ? end + 1 : end;
  }
};

template <class E, class Real>
void cut_queries(const E& exec, const TreeView<Real>& queries, Index first_leaf, Index max_queries,
                 Span<QueryChunk> chunks) {
  for_each(exec, 1, CutQueries<Real>{queries, first_leaf, max_queries, chunks});
}

/// The number of neighbours of each query; a scan makes offsets of them, and of the end.
struct TakeCount {
  Span<const LocalIndex> counts;
  Span<Index> to;

  ZHALO_HD void operator()(Index i) const { to[i] = i < counts.size() ? Index{counts[i]} : 0; }
};

template <class Real>
struct ShortenChunk {
  static constexpr bool long_elements = true;
  TreeView<Real> queries;
  QueryChunk chunk;
  Span<const Index> offset;
  Index max_neighbours;
  ListedChunk* result;

  ZHALO_HD Index neighbours_before(Index leaf) const {
    return offset[queries.particles_before(leaf) - chunk.first_query];
  }

  ZHALO_HD void operator()(Index) const {
    const Index fits = first_index_where(chunk.num_leaves, [&](Index i) {
      return neighbours_before(chunk.first_leaf + i + 1) > max_neighbours;
    });
    Index end = chunk.first_leaf + fits;
    if (fits < chunk.num_leaves && queries.particles_before(end) == chunk.first_query) ++end;
    *result = {chunk_of_leaves(queries, chunk.first_leaf, end), neighbours_before(end)};
  }
};

template <class E, class Real>
ListedChunk list_chunk(const E& exec, const ChunkCounts<Real>& counts, Index max_neighbours) {
  for_each(exec, counts.offset.size(), TakeCount{counts.count, counts.offset});
  queue_scan(exec, counts.offset);
  Buffer<ListedChunk> result(exec, 1, "a chunk of queries");
  const Span<const Index> offset = counts.offset;
  for_each(exec, 1,
           ShortenChunk<Real>{counts.queries, counts.chunk, offset, max_neighbours, result.data()});
  ListedChunk on_host;
  copy_bytes(exec, &on_host, result.data(), sizeof on_host);
  return on_host;
}

ZHALO_INSTANTIATE_REALS(cut_queries);
ZHALO_INSTANTIATE_REALS(list_chunk);

}  // namespace zhalo::kernels
