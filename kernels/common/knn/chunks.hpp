/// Chunks of queries, found where the tree is: the host learns of the chunks, not of the leaves.
#pragma once

#include "kernels/common/arithmetic.hpp"
#include "kernels/common/backend.hpp"
#include "kernels/knn.hpp"

namespace zhalo::kernels {

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
  /// The last place before which there are not too many; then, if that is none, the leaf that has
  /// some.
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
