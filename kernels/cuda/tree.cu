// Trees on CUDA. For the starts of cells a warp looks at many keys in shared memory; boxes get a
// warp each.
#define ZHALO_BACKEND Cuda

#include <limits>

#include "kernels/cuda/reduce.cuh"
#include "kernels/lanes/warp_lanes.cuh"
#include "kernels/tree.hpp"
// The loops come first: the texts of kernels/common are written in terms of them.
#include "kernels/common/tree/leaves.hpp"
// After the lanes.
#include "kernels/common/tree/boxes.inl.hpp"

// ---------------------------------------------------------------- where cells start

namespace zhalo::kernels {

/// Keys, of which those in [first, first + num) are at hand.
struct NearKeys {
  Span<const std::uint64_t> all;
  const std::uint64_t* near = nullptr;
  Index first = 0;
  Index num = 0;

  ZHALO_HD Index size() const { return all.size(); }
  ZHALO_HD std::uint64_t operator[](Index i) const {
    const Index at = i - first;
    return at >= 0 && at < num ? near[at] : all[i];
  }
};

/// Writes 1 for each element at which a cell starts, and 0 for the others. The number of elements
/// may be known to the device only: then there are at most as many as keys.
template <class Lanes>
struct FlagCells {
  static constexpr Index per_item = 256;
  static constexpr Index sector = 4;  ///< keys in the smallest piece of memory that is moved
  static constexpr Index max_halo = max_leaf_size + 2 * sector;

  struct Scratch {
    std::uint64_t keys[per_item + 2 * max_halo];
  };

  CellCut cut;
  const Index* num_keys = nullptr;  ///< none: all
  std::uint8_t* flags = nullptr;

  ZHALO_HD void operator()(const Lanes& lanes, Index item, Scratch& s) const {
    const Index room = cut.keys.size();
    const Index num = num_keys == nullptr ? room : smaller(*num_keys, room);
    const Index begin = item * per_item;
    const Index end = smaller(begin + per_item, room);
    const Index halo = smaller((cut.max_size / sector + 2) * sector, max_halo);
    const Index first = begin > halo ? begin - halo : 0;
    const Index near = smaller(end + halo, num) - first;
    lanes.for_each_lane(near, [&](Index i) { s.keys[i] = cut.keys[first + i]; });
    lanes.sync();
    const NearKeys keys{{cut.keys.data(), num}, s.keys, first, near};
    const CellCutterOf<NearKeys> cutter{{keys, cut.bits, cut.max_size, cut.equal_keys_stay}};
    lanes.for_each_lane(end - begin, [&](Index i) {
      flags[begin + i] = begin + i < num && cutter.starts_cell(begin + i) ? 1 : 0;
    });
  }

 private:
  ZHALO_HD static Index smaller(Index a, Index b) { return a < b ? a : b; }
};

/// The first element of each cell, and their number, to memory of the device; there must be room
/// for as many as there are keys.
inline void queue_cells(const Cuda& exec, const CellCut& cut, const Index* num_keys,
                        LocalIndex* starts, Index* num) {
  using Flag = FlagCells<WarpLanes<float>>;
  const Index room = cut.keys.size();
  Buffer<std::uint8_t> flags(exec, room, "a selection");
  for_each_with_lanes(exec, (room + Flag::per_item - 1) / Flag::per_item,
                      Flag{cut, num_keys, flags.data()}, WarpLanes<float>{});
  queue_select_flagged(exec, Span<const std::uint8_t>(flags.span()), starts, num);
}

/// More leaves than there was room for.
inline Buffer<LocalIndex> cut_nodes_again(const Cuda& exec, const CellCut& cut,
                                          const Buffer<LocalIndex>& leaves, int fanout) {
  Buffer<std::uint64_t> keys(exec, leaves.size(), "leaf keys");
  for_each(exec, keys.size(), TakeLeafKey{cut.keys, leaves.data(), nullptr, keys.span()});
  Buffer<LocalIndex> nodes(exec, leaves.size(), "cell starts");
  Buffer<Index> count(exec, 1, "cell counts");
  queue_cells(exec, CellCut{keys.span(), cut.bits, fanout, false}, nullptr, nodes.data(),
              count.data());
  Index on_host = 0;
  copy_bytes(exec, &on_host, count.data(), sizeof on_host);
  nodes.shrink(on_host);
  return nodes;
}

/// Leaves and nodes, of which the host learns the numbers together: nodes are cut before it knows
/// how many leaves there are, in room for as many as there usually are at most. If they are more,
/// the nodes are cut again.
template <class E>
TreeCells cut_tree(const E& exec, const CellCut& cut, int fanout) {
  const Index num_keys = cut.keys.size();
  const Index usual = 1024 + num_keys / cut.max_size * 4;
  const Index room = usual < num_keys ? usual : num_keys;
  TreeCells cells{{exec, num_keys, "cell starts"}, {exec, room, "cell starts"}};
  Buffer<Index> counts(exec, 2, "cell counts");
  queue_cells(exec, cut, nullptr, cells.leaves.data(), counts.data());
  {
    Buffer<std::uint64_t> keys(exec, room, "leaf keys");
    for_each(exec, room, TakeLeafKey{cut.keys, cells.leaves.data(), counts.data(), keys.span()});
    queue_cells(exec, CellCut{keys.span(), cut.bits, fanout, false}, counts.data(),
                cells.nodes.data(), counts.data() + 1);
  }
  Index on_host[2] = {};
  copy_bytes(exec, on_host, counts.data(), sizeof on_host);
  cells.leaves.shrink(on_host[0]);
  if (on_host[0] > room) {
    cells.nodes = cut_nodes_again(exec, cut, cells.leaves, fanout);
  } else {
    cells.nodes.shrink(on_host[1]);
  }
  return cells;
}

ZHALO_INSTANTIATE(cut_tree);

}  // namespace zhalo::kernels
