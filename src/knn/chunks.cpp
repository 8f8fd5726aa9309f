#include "src/knn/chunks.hpp"

#include <algorithm>

namespace zhalo {

template <class Real>
Chunks::Chunks(const Exec& exec, const kernels::TreeView<Real>& queries) : queries_before_{0} {
  const auto begin = to_host(exec, Span<const LocalIndex>(queries.leaf_begin, queries.plane_size[0]));
  const auto end = to_host(exec, Span<const LocalIndex>(queries.leaf_end, queries.plane_size[0]));
  for (std::size_t slot = 0; slot < begin.size(); ++slot)
    queries_before_.push_back(queries_before_.back() + Index{end[slot] - begin[slot]});
}

Chunk Chunks::until(Index end) const {
  const Index before = queries_before_[static_cast<std::size_t>(slot_)];
  return {slot_, end - slot_, before, queries_before_[static_cast<std::size_t>(end)] - before};
}

Chunk Chunks::peek(Index most_queries) const {
  const auto slot = queries_before_.begin() + slot_;
  const Index before = *slot;
  // The last place before which there are not too many; then, if that is none, the leaf that has some.
  auto end = std::upper_bound(slot, queries_before_.end(), before + most_queries) - 1;
  if (*end == before && end + 1 != queries_before_.end()) ++end;
  return until(end - queries_before_.begin());
}

Chunk Chunks::shorten(const Chunk& chunk, const std::vector<Index>& before, Index most) const {
  Index end = chunk.first_slot;
  const auto neighbours_before = [&](Index slot) {
    return before[static_cast<std::size_t>(queries_before_[static_cast<std::size_t>(slot)] - chunk.first_query)];
  };
  while (end < chunk.first_slot + chunk.num_slots && (neighbours_before(end + 1) <= most || until(end).num_queries == 0)) ++end;
  return until(end);
}

template Chunks::Chunks(const Exec&, const kernels::TreeView<float>&);
template Chunks::Chunks(const Exec&, const kernels::TreeView<double>&);

}  // namespace zhalo
