/// Cells of sorted keys, and the leaves of level 0.
#pragma once

#include "kernels/common/backend.hpp"
#include "kernels/common/tree/leaf_cells.hpp"

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
  if (num_cells > 0)
    for_each(exec, num_chunks, CutChunk{cutter, chunk, counts.span(), starts.span()});
  return starts;
}

struct WriteLeaf {
  LeafRanges leaves;

  ZHALO_HD void operator()(Index i) const {
    const Index node = i / leaves.fanout;
    leaves.begin[i] = leaves.end[i] = 0;
    if (node >= leaves.node_starts.size()) return;
    const Index num_leaves = leaves.leaf_starts.size();
    const Index leaf = leaves.node_starts[node] + i % leaves.fanout;
    const Index node_end =
        node + 1 < leaves.node_starts.size() ? Index{leaves.node_starts[node + 1]} : num_leaves;
    if (leaf >= node_end) return;
    leaves.begin[i] = leaves.leaf_starts[leaf];
    leaves.end[i] = leaf + 1 < num_leaves ? leaves.leaf_starts[leaf + 1]
                                          : static_cast<LocalIndex>(leaves.num_particles);
  }
};

template <class E>
void write_leaves(const E& exec, const LeafRanges& leaves) {
  for_each(exec, leaves.begin.size(), WriteLeaf{leaves});
}

struct WriteEvenLeaf {
  EvenLeaves leaves;

  ZHALO_HD void operator()(Index leaf) const {
    const Index begin = leaf * leaves.leaf_size;
    const Index end = begin + leaves.leaf_size;
    leaves.begin[leaf] = static_cast<LocalIndex>(begin < leaves.num_particles ? begin : 0);
    leaves.end[leaf] = static_cast<LocalIndex>(
        begin < leaves.num_particles ? (end < leaves.num_particles ? end : leaves.num_particles)
                                     : 0);
  }
};

template <class E>
void write_even_leaves(const E& exec, const EvenLeaves& leaves) {
  for_each(exec, leaves.begin.size(), WriteEvenLeaf{leaves});
}

ZHALO_INSTANTIATE(cut_cells);
ZHALO_INSTANTIATE(write_leaves);
ZHALO_INSTANTIATE(write_even_leaves);

}  // namespace zhalo::kernels
