// Trees on the host. The texts written for Lanes are compiled for every vector target; the best one
// that the processor has is taken at run time.
#define ZHALO_BACKEND Host

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/host/dispatch.hpp"
#include "kernels/host/parallel.hpp"
// The loops come first: the texts of kernels/common are written in terms of them.
#include "kernels/common/tree/leaves.hpp"
#include "kernels/lanes/lanes.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/host/tree.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/lanes/simd_lanes.inl.hpp"
// After the lanes.
#include "kernels/common/tree/boxes.inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace zhalo::kernels::HWY_NAMESPACE {

ZHALO_TARGET_REALS(leaf_boxes, Host);
ZHALO_TARGET_REALS(level_boxes, Host);
const char* target_name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace zhalo::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace zhalo::kernels {

ZHALO_EXPORT_REALS(leaf_boxes);
ZHALO_EXPORT_REALS(level_boxes);
HWY_EXPORT(target_name);

template <class E, class Real>
void leaf_boxes(const E& exec, const TreeView<Real>& tree) {
  ZHALO_BEST_TARGET(leaf_boxes, Real)(exec, tree);
}
template <class E, class Real>
void level_boxes(const E& exec, const TreeView<Real>& tree, int level) {
  ZHALO_BEST_TARGET(level_boxes, Real)(exec, tree, level);
}

ZHALO_INSTANTIATE_REALS(leaf_boxes);
ZHALO_INSTANTIATE_REALS(level_boxes);

// ---------------------------------------------------------------- where cells start

namespace {

/// Writes and counts the cells that start in one chunk of elements. For the host.
struct CutChunk {
  static constexpr bool long_elements = true;
  CellCutter cutter;
  Index chunk = 0;
  Span<Index> counts;       ///< per chunk
  Span<LocalIndex> starts;  ///< those of a chunk begin where its elements do

  ZHALO_HD void operator()(Index c) const {
    const Index num = cutter.keys.size();
    const Index last = (c + 1) * chunk < num ? (c + 1) * chunk : num;
    Index at = c * chunk;
    while (at < last && !cutter.starts_cell(at)) ++at;
    Index found = 0;
    for (; at < last; at = cutter.end_of_cell(at), ++found)
      starts[c * chunk + found] = static_cast<LocalIndex>(at);
    counts[c] = found;
  }
};

/// Moves the cells of one chunk behind those of the chunks before it.
struct MoveStarts {
  static constexpr bool long_elements = true;
  Span<const LocalIndex> starts;
  Index chunk = 0;
  Span<const Index> first;  ///< of each chunk
  Span<LocalIndex> to;

  ZHALO_HD void operator()(Index c) const {
    const Index end = c + 1 < first.size() ? first[c + 1] : to.size();
    for (Index i = first[c]; i < end; ++i) to[i] = starts[c * chunk + i - first[c]];
  }
};

/// First element of each cell, from cell to cell through each chunk.
Buffer<LocalIndex> cut_cells(const Host& exec, const CellCut& cut) {
  const CellCutter cutter{cut};
  const Index chunk = chunk_of_loop(exec);
  const Index num_chunks = (cut.keys.size() + chunk - 1) / chunk;
  Buffer<Index> counts(exec, num_chunks, "cell counts");
  Buffer<LocalIndex> starts(exec, cut.keys.size(), "cell starts");
  for_each(exec, num_chunks, CutChunk{cutter, chunk, counts.span(), starts.span()});
  Buffer<LocalIndex> cells(exec, exclusive_scan(exec, counts.span()), "cell starts");
  for_each(exec, num_chunks, MoveStarts{starts.span(), chunk, counts.span(), cells.span()});
  return cells;
}

Buffer<LocalIndex> cut_nodes(const Host& exec, const CellCut& cut, const Buffer<LocalIndex>& leaves,
                             int fanout) {
  Buffer<std::uint64_t> keys(exec, leaves.size(), "leaf keys");
  for_each(exec, keys.size(), TakeLeafKey{cut.keys, leaves.data(), nullptr, keys.span()});
  return cut_cells(exec, CellCut{keys.span(), cut.bits, fanout, false});
}

}  // namespace

template <class E>
TreeCells cut_tree(const E& exec, const CellCut& cut, int fanout) {
  TreeCells cells{cut_cells(exec, cut), {}};
  cells.nodes = cut_nodes(exec, cut, cells.leaves, fanout);
  return cells;
}

ZHALO_INSTANTIATE(cut_tree);

const char* simd_target() { return HWY_DYNAMIC_DISPATCH(target_name)(); }

}  // namespace zhalo::kernels
#endif
