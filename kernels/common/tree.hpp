/// Leaves and the slots of plane 0.
#pragma once

#include "kernels/common/cells.hpp"
#include "zhalo/core/buffer.hpp"

namespace zhalo::kernels {

template <class E>
Buffer<LocalIndex> cut_cells(const E& exec, const CellCut& cut) {
  const CellCutter cutter{cut};
  const Index chunk = chunk_of_loop(exec);
  const Index num_chunks = (cut.keys.size() + chunk - 1) / chunk;
  Buffer<Index> counts(exec, num_chunks, "cell counts");
  for_each(exec, num_chunks, CutChunk{cutter, chunk, counts.span(), {}});
  const Index num_cells = exclusive_scan(exec, counts.span());
  Buffer<LocalIndex> starts(exec, num_cells, "cell starts");
  if (num_cells > 0) for_each(exec, num_chunks, CutChunk{cutter, chunk, counts.span(), starts.span()});
  return starts;
}

struct GatherKey {
  Span<const std::uint64_t> keys;
  Span<const LocalIndex> at;
  Span<std::uint64_t> to;

  ZHALO_HD void operator()(Index i) const { to[i] = keys[at[i]]; }
};

template <class E>
void gather_keys(const E& exec, Span<const std::uint64_t> keys, Span<const LocalIndex> at, Span<std::uint64_t> to) {
  for_each(exec, at.size(), GatherKey{keys, at, to});
}

struct FillSlot {
  LeafSlots slots;

  ZHALO_HD void operator()(Index slot) const {
    const Index node = slot / slots.fanout;
    slots.begin[slot] = slots.end[slot] = 0;
    if (node >= slots.node_starts.size()) return;
    const Index num_leaves = slots.leaf_starts.size();
    const Index leaf = slots.node_starts[node] + slot % slots.fanout;
    const Index node_end = node + 1 < slots.node_starts.size() ? Index{slots.node_starts[node + 1]} : num_leaves;
    if (leaf >= node_end) return;
    slots.begin[slot] = slots.leaf_starts[leaf];
    slots.end[slot] = leaf + 1 < num_leaves ? slots.leaf_starts[leaf + 1] : static_cast<LocalIndex>(slots.num_particles);
  }
};

template <class E>
void fill_slots(const E& exec, const LeafSlots& slots) {
  for_each(exec, slots.begin.size(), FillSlot{slots});
}

}  // namespace zhalo::kernels
