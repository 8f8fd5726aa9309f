/// Finding the places that fulfil a condition: the first one, or all in order.
#pragma once

#include "kernels/common/backend.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/core/span.hpp"

namespace zhalo::kernels {

/// First place in [0, end) at which `reached` holds, or `end`; it holds from some place on.
template <class Reached>
ZHALO_HD Index first_index_where(Index end, const Reached& reached) {
  Index low = 0;
  Index high = end;
  while (low < high) {
    const Index middle = low + (high - low) / 2;
    if (reached(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/// Counts (or, with `selected`, writes) the places of one chunk that fulfil the condition.
template <class Condition>
struct SelectChunk {
  static constexpr bool long_elements = true;
  Condition condition;
  Index num = 0;
  Index chunk = 0;
  Span<Index> counts;         ///< per chunk; after a scan, offsets
  Span<LocalIndex> selected;  ///< empty: count

  ZHALO_HD void operator()(Index c) const {
    const Index last = (c + 1) * chunk < num ? (c + 1) * chunk : num;
    Index found = 0;
    for (Index i = c * chunk; i < last; ++i) {
      if (!condition(i)) continue;
      if (!selected.empty()) selected[counts[c] + found] = static_cast<LocalIndex>(i);
      ++found;
    }
    if (selected.empty()) counts[c] = found;
  }
};

/// The i in [0, num) with condition(i), ascending.
template <class E, class Condition>
Buffer<LocalIndex> select(const E& exec, Index num, Condition condition) {
  const Index chunk = chunk_of_loop(exec);
  const Index num_chunks = (num + chunk - 1) / chunk;
  Buffer<Index> counts(exec, num_chunks, "counts of a selection");
  for_each(exec, num_chunks, SelectChunk<Condition>{condition, num, chunk, counts.span(), {}});
  const Index num_selected = exclusive_scan(exec, counts.span());
  Buffer<LocalIndex> selected(exec, num_selected, "a selection");
  if (num_selected > 0)
    for_each(exec, num_chunks,
             SelectChunk<Condition>{condition, num, chunk, counts.span(), selected.span()});
  return selected;
}

}  // namespace zhalo::kernels
