/// The views that src hands to the kernels: trivially copyable, pointing to memory of the Exec.
#pragma once

#include <cmath>

#include "kernels/disjoint_sets.hpp"
#include "zhalo/core/box.hpp"
#include "zhalo/core/span.hpp"
#include "zhalo/core/strided.hpp"

namespace zhalo::kernels {

/// a * b + c, rounded once.
ZHALO_HD inline float fused(float a, float b, float c) {
#if ZHALO_ON_DEVICE
  return __fmaf_rn(a, b, c);
#else
  return std::fma(a, b, c);
#endif
}
ZHALO_HD inline double fused(double a, double b, double c) {
#if ZHALO_ON_DEVICE
  return __fma_rn(a, b, c);
#else
  return std::fma(a, b, c);
#endif
}

// ---------------------------------------------------------------- particles

template <class Real>
struct SegmentView {
  Index first = 0;  ///< place of its first particle on this rank
  Index num = 0;
  Strided<Real> pos[3];
  RealColumn velocity[3];
  RealColumn mass;
  Strided<std::uint8_t> type;
};

/// A particle's segment and its place there.
template <class Real>
struct Place {
  const SegmentView<Real>& segment;
  Index row;

  ZHALO_HD Vec<Real, 3> pos(int dimensions) const {
    return {{segment.pos[0][row], segment.pos[1][row],
             dimensions == 3 ? segment.pos[2][row] : Real{0}}};
  }
};

/// All particles of a rank in the caller's order. `segments` is never empty; no segment but the
/// only one is empty.
template <class Real>
struct ParticlesView {
  Span<const SegmentView<Real>> segments;
  Index num = 0;
  int dimensions = 3;
  double uniform_mass = 1;

  ZHALO_HD Place<Real> operator[](Index i) const {
    Index low = 0;
    Index high = segments.size() - 1;
    while (low < high) {
      const Index middle = (low + high + 1) / 2;
      if (segments[middle].first <= i) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return {segments[low], i - segments[low].first};
  }
};

/// What one look at all positions tells. Indices are places on this rank.
struct PositionSummary {
  Vec3d lo;
  Vec3d hi;
  Index num_not_finite = 0;
  Index first_not_finite = 0;
  Index num_outside = 0;  ///< of a box that is not periodic
  Index first_outside = 0;
  Index num_wrapped = 0;
};

/// How positions become sorted coordinates and keys: wrapped into the box, then multiplied by a
/// power of two (which is exact) so that squares neither overflow nor underflow, and cut into
/// 2^bits cubic cells an axis.
struct KeyFrame {
  Box box;
  Vec3d corner;                 ///< of the cells, unscaled
  double cells_per_length = 0;  ///< unscaled
  int bits_per_axis = 0;
  double scale = 1;

  /// x itself, or its image in [lo, lo + length) on a periodic axis.
  template <class Real>
  ZHALO_HD Real wrapped(Real x, int axis) const {
    if (!box.periodic[axis]) return x;
    const double lo = box.lo[axis];
    const double length = box.length[axis];
    const double hi = lo + length;
    const double value = static_cast<double>(x);
    if (value >= lo && value < hi) return x;
    if (value == hi) return first_from(lo, Real{});
    double image = value - length * floor((value - lo) / length);
    if (image < lo) {
      image += length;
    } else if (image >= hi) {
      image -= length;
    }
    const Real rounded = static_cast<Real>(image);
    // What rounding moved out of the box goes to its edge, and so does what lies so far out that no
    // digit of its image is left.
    return static_cast<double>(rounded) >= lo && static_cast<double>(rounded) < hi
               ? rounded
               : first_from(lo, Real{});
  }

  int key_bits() const { return bits_per_axis * box.dimensions; }

 private:
  /// The smallest number of Real's that is not below lo.
  ZHALO_HD static double first_from(double lo, double) { return lo; }
  ZHALO_HD static float first_from(double lo, float) {
    const float nearest = static_cast<float>(lo);
    return static_cast<double>(nearest) < lo ? nextafterf(nearest, INFINITY) : nearest;
  }
};

// ---------------------------------------------------------------- exchange

/// Ascending keys and the weight of all elements before each place (size + 1), or none where each
/// weighs 1.
struct KeyWeights {
  Span<const std::uint64_t> keys;
  Span<const Index> weight_before;
};

/// Elements of any trivially copyable type that go to other places.
struct MovedColumn {
  const void* from = nullptr;
  void* to = nullptr;
  Index element_size = 0;
  Index from_stride = 0;  ///< in bytes, where elements are gathered; 0: one behind the other
};

/// The ranks that received elements came from.
struct SourcesView {
  Span<const Index> receive_offset;  ///< by rank, and the end
  Span<const Index> first;           ///< by rank: global number of its first element

  /// Global number of the received element i, which was number `place` on its rank.
  ZHALO_HD Index global(Index i, Index place) const {
    Index low = 0;
    Index high = first.size() - 1;
    while (low < high) {
      const Index middle = (low + high + 1) / 2;
      if (receive_offset[middle] <= i) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return first[low] + place;
  }
};

// ---------------------------------------------------------------- tree

/// How sorted keys are cut into cells: see kernels/common/leaf_cells.hpp.
struct CellCut {
  Span<const std::uint64_t> keys;
  int bits = 0;                  ///< of the keys that are used, from the lowest on
  Index most = 0;                ///< elements per cell
  bool equal_keys_stay = false;  ///< in one cell of any size
};

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

/// Coordinates in sorted order, one array an axis; at least Buffer::padding elements behind the end
/// can be read.
template <class Real>
struct SortedPositions {
  Real* axis[3] = {nullptr, nullptr, nullptr};
  Index num = 0;
};

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
};

// ---------------------------------------------------------------- friends of friends

/// Particles per leaf that is not a clump: a bit each in a word.
inline constexpr int max_leaf_size = 64;

/// Squared distances, computed in Real, up to within2 are friends for sure and those above reach2
/// are not; pairs between are decided in double. For Real = double both are the squared linking
/// length, and nothing lies between.
template <class Real>
struct Thresholds {
  Real within2 = 0;
  Real reach2 = 0;
};

/// Where labels go: the caller's order, as global indices.
struct LabelTarget {
  Index first_index = 0;  ///< global index of this rank's first particle
  Span<Index> label;
};

/// A tree whose particles are in sets.
template <class Real>
struct LinkedTree {
  TreeView<Real> tree;
  std::uint8_t* connected = nullptr;  ///< per leaf: all its particles are in one set
  LocalIndex first_in_sets = 0;  ///< element of the sets that stands for the tree's first particle
};

/// Everything that linking needs. Lengths are scaled like the sorted coordinates.
template <class Real>
struct FofView : LinkedTree<Real> {
  /// Those whose leaves walk through the tree: its own, each pair of leaves once, or others, each
  /// leaf with all of the tree's.
  LinkedTree<Real> walkers;
  bool own_leaves_walk = true;
  int walk_level = 0;  ///< one walk per node of this level of the walkers: 0 or 1

  DisjointSets sets;
  Thresholds<Real> open;     ///< for distances that cross no periodic edge
  Thresholds<Real> wrapped;  ///< for distances that may
  Real period[3] = {};       ///< infinite where not periodic
  double exact_period[3] = {};
  double linking_length2 = 0;
  Real inner_lo[3] = {};  ///< a box inside [inner_lo, inner_hi] has no friends across an edge
  Real inner_hi[3] = {};

  void let_own_leaves_walk() {
    walkers = {this->tree, this->connected, this->first_in_sets};
    own_leaves_walk = true;
  }

  /// The definition, in float64 arithmetic: particle i of `a` (the tree or the walkers) and j of
  /// the tree.
  ZHALO_HD bool are_friends(const LinkedTree<Real>& a, Index i, Index j) const {
    double d[3];
    for (int axis = 0; axis < 3; ++axis) {
      const double direct = fabs(static_cast<double>(a.tree.pos.axis[axis][i]) -
                                 static_cast<double>(this->tree.pos.axis[axis][j]));
      const double image = exact_period[axis] - direct;
      d[axis] = image < direct ? image : direct;
    }
    return fused(d[2], d[2], fused(d[1], d[1], d[0] * d[0])) <= linking_length2;
  }
};

// ---------------------------------------------------------------- friends of friends over ranks

/// A box in scaled coordinates.
struct CoarseBox {
  Vec3d lo;
  Vec3d hi;
};

/// Boxes that one rank publishes: a bit each in a word.
inline constexpr int max_coarse_boxes = 64;

/// The search for this rank's particles that may have friends in another rank's boxes.
template <class Real>
struct GhostSearch {
  TreeView<Real> tree;
  CoarseBox hull;               ///< around all of them
  Span<const CoarseBox> boxes;  ///< at most max_coarse_boxes
  double period[3] = {};        ///< infinite where not periodic
  double reach2 = 0;
};

/// Particles of other ranks, which are elements of this rank's sets, too.
struct GhostsView {
  LocalIndex first_in_sets = 0;
  SourcesView sources;
  Span<const LocalIndex> root;  ///< of each ghost's set, on its own rank
};

/// A set of another rank (by a particle's place in the Z-order of all) that is joined with a set of
/// this rank; remote is -1 for none.
struct GhostEdge {
  Index remote = -1;
  LocalIndex local = 0;
};

/// Leaves of equal size, in a multiple of the fanout of leaves.
struct EvenLeaves {
  Index num_particles = 0;
  Index leaf_size = 0;
  Span<LocalIndex> begin;
  Span<LocalIndex> end;
};

}  // namespace zhalo::kernels
