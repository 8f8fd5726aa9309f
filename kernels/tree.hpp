/// The tree over sorted keys: cells, leaves, levels and their boxes.
///
/// Templates are defined in kernels/common/tree, for Host and Cuda, float and double.
#pragma once

#include "kernels/common/arithmetic.hpp"
#include "kernels/particles.hpp"
#include "zhalo/core/buffer.hpp"

namespace zhalo::kernels {

// ---------------------------------------------------------------- leaves

/// Particles per leaf that is not a clump: a bit each in a word.
inline constexpr int max_leaf_size = 64;

/// How sorted keys are cut into cells: see kernels/common/tree/leaves.hpp. Keys are an array, or
/// what reads one.
template <class Keys>
struct CellCutOf {
  Keys keys;
  int bits = 0;                  ///< of the keys that are used, from the lowest on
  Index max_size = 0;            ///< elements per cell
  bool equal_keys_stay = false;  ///< in one cell of any size
};
using CellCut = CellCutOf<Span<const std::uint64_t>>;

/// Leaves put into leaves: those of each node of level 1 into its `fanout` leaves, empty leaves
/// (begin == end) behind.
struct LeafRanges {
  Span<const LocalIndex> leaf_starts;  ///< first particle of each leaf
  Span<const LocalIndex> node_starts;  ///< first leaf of each node
  Index num_particles = 0;
  int fanout = 0;
  Span<LocalIndex> begin;
  Span<LocalIndex> end;
};

/// Leaves of equal size, in a multiple of the fanout of leaves.
struct EvenLeaves {
  Index num_particles = 0;
  Index leaf_size = 0;
  Span<LocalIndex> begin;
  Span<LocalIndex> end;
};

/// The largest Morton cells with at most so many elements.
struct TreeCells {
  Buffer<LocalIndex> leaves;  ///< first element of each of the largest cells with cut.most
  Buffer<LocalIndex> nodes;   ///< first leaf of each of the largest cells with `fanout` leaves
};

/// Waits for a device once.
template <class E>
TreeCells cut_tree(const E& exec, const CellCut& cut, int fanout);

/// begin and end of every leaf.
template <class E>
void write_leaves(const E& exec, const LeafRanges& leaves);

/// begin and end of every leaf.
template <class E>
void write_even_leaves(const E& exec, const EvenLeaves& leaves);

// ---------------------------------------------------------------- levels

/// Boxes of nodes, one array a bound.
template <class Real>
struct BoxesView {
  Real* lo[3] = {nullptr, nullptr, nullptr};
  Real* hi[3] = {nullptr, nullptr, nullptr};
};

/// The flat level hierarchy. Level 0 holds the leaves; the node k of level p + 1 groups the nodes
/// [k F, (k + 1) F) of level p, where F is the fanout. Leaves are placed so that the leaves of one
/// node of level 1 fill a Morton cell; unused leaves have begin == end and an empty box (lo = +inf,
/// hi = -inf), as have the nodes that pad each level to a multiple of F. The top level has at most
/// F nodes.
template <class Real>
struct TreeView {
  static constexpr int max_levels = 16;

  SortedPositions<Real> pos;
  int fanout = 0;
  int num_levels = 0;
  Index level_first[max_levels] = {};  ///< of each level's nodes in `boxes`
  Index level_size[max_levels] = {};   ///< padded
  const LocalIndex* leaf_begin = nullptr;
  const LocalIndex* leaf_end = nullptr;
  BoxesView<Real> boxes;

  /// Particles in the leaves before this one, and in all. Within a node empty leaves are the last.
  ZHALO_HD Index particles_before(Index leaf) const {
    if (leaf < level_size[0] && leaf_begin[leaf] == leaf_end[leaf])
      leaf = (leaf / fanout + 1) * fanout;
    return leaf < level_size[0] ? Index{leaf_begin[leaf]} : pos.num;
  }
};

/// before[i] = particles in the leaves before leaf leaves[i].
template <class E, class Real>
void count_particles_before(const E& exec, const TreeView<Real>& tree, Span<const Index> leaves,
                            Span<Index> before);

/// Tight boxes of the leaves (level 0), or of one coarser level from the level below it.
template <class E, class Real>
void leaf_boxes(const E& exec, const TreeView<Real>& tree);
template <class E, class Real>
void level_boxes(const E& exec, const TreeView<Real>& tree, int level);

/// A box in scaled coordinates.
struct CoarseBox {
  Vec3d lo;
  Vec3d hi;
};

/// The squared distance of two boxes, or of one from the nearest image of the other. Periods are
/// infinite where nothing is periodic.
ZHALO_HD inline double gap2(const CoarseBox& a, const CoarseBox& b, const double (&period)[3]) {
  double sum = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const double gap =
        gap_between<double>({a.lo[axis], a.hi[axis]}, {b.lo[axis], b.hi[axis]}, period[axis]);
    sum += gap * gap;
  }
  return sum;
}

/// Boxes that one rank publishes: a bit each in a word.
inline constexpr int max_coarse_boxes = 64;

}  // namespace zhalo::kernels
