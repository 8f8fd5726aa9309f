#include "src/knn/chunks.hpp"

#include <algorithm>

namespace zhalo {

template <class Real>
Chunks::Chunks(const Exec& exec, const kernels::TreeView<Real>& queries) : queries_before_{0} {
  const auto begin =
      to_host(exec, Span<const LocalIndex>(queries.leaf_begin, queries.level_size[0]));
  const auto end = to_host(exec, Span<const LocalIndex>(queries.leaf_end, queries.level_size[0]));
  for (std::size_t leaf = 0; leaf < begin.size(); ++leaf)
    queries_before_.push_back(queries_before_.back() + Index{end[leaf] - begin[leaf]});
}

Chunk Chunks::until(Index end) const {
  const Index before = queries_before_[static_cast<std::size_t>(leaf_)];
  return {leaf_, end - leaf_, before, queries_before_[static_cast<std::size_t>(end)] - before};
}

Chunk Chunks::peek(Index max_queries) const {
  const auto leaf = queries_before_.begin() + leaf_;
  const Index before = *leaf;
  // The last place before which there are not too many; then, if that is none, the leaf that has
  // some.
  auto end = std::upper_bound(leaf, queries_before_.end(), before + max_queries) - 1;
  if (*end == before && end + 1 != queries_before_.end()) ++end;
  return until(end - queries_before_.begin());
}

Chunk Chunks::shorten(const Chunk& chunk, const std::vector<Index>& before, Index most) const {
  Index end = chunk.first_leaf;
  const auto neighbours_before = [&](Index leaf) {
    return before[static_cast<std::size_t>(queries_before_[static_cast<std::size_t>(leaf)] -
                                           chunk.first_query)];
  };
  while (end < chunk.first_leaf + chunk.num_leaves &&
         (neighbours_before(end + 1) <= most || until(end).num_queries == 0))
    ++end;
  return until(end);
}

template Chunks::Chunks(const Exec&, const kernels::TreeView<float>&);
template Chunks::Chunks(const Exec&, const kernels::TreeView<double>&);

}  // namespace zhalo
