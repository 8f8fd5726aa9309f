/// Friends of friends: sets, linking leaves, and what several ranks tell each other.
///
/// Templates are defined in kernels/common/fof, for Host and Cuda, float and double.
#pragma once

#include "kernels/common/arithmetic.hpp"
#include "kernels/tree.hpp"
#include "zhalo/core/span.hpp"

namespace zhalo::kernels {

// ---------------------------------------------------------------- sets
//
// Union-find on a parent array, for many threads at once.
//
// Invariant: parent[i] <= i, so the root of a set is its smallest element and a walk to the root
// ends. Roots are hooked, larger to smaller, with compare-and-swap; paths are halved while they
// are walked (Jayanti & Tarjan 2016, PODC, "A randomized concurrent algorithm for disjoint set
// union", with index order in place of a random one: Z-order keeps the trees shallow).

struct DisjointSets {
  Span<LocalIndex> parent;

  ZHALO_HD LocalIndex find(LocalIndex i) const {
    LocalIndex up = atomic_load(parent[i]);
    while (up != i) {
      const LocalIndex above = atomic_load(parent[up]);
      if (above != up) atomic_store(parent[i], above);
      i = up;
      up = above;
    }
    return i;
  }

  /// find() that leaves all paths as they are. It is for elements of which most are roots or right
  /// below one, in random order: one branch for both.
  ZHALO_HD LocalIndex root_of(LocalIndex i) const {
    LocalIndex up = atomic_load(parent[i]);
    LocalIndex above = atomic_load(parent[up]);
    while (above != up) {
      up = above;
      above = atomic_load(parent[up]);
    }
    return up;
  }

  /// Whether the walk from i to its root comes by `above`: then both are in one set. It ends
  /// earlier than find() where they are. Sets that are united meanwhile may be missed.
  ZHALO_HD bool is_below(LocalIndex i, LocalIndex above) const {
    while (i > above) {
      const LocalIndex up = atomic_load(parent[i]);
      if (up == i) return false;
      i = up;
    }
    return i == above;
  }

  ZHALO_HD void unite(LocalIndex a, LocalIndex b) const {
    a = find(a);
    b = find(b);
    while (a != b) {
      if (a < b) {
        const LocalIndex larger = b;
        b = a;
        a = larger;
      }
      const LocalIndex seen = atomic_compare_exchange(parent[a], a, b);
      if (seen == a) return;
      a = find(seen);
      b = find(b);
    }
  }

  /// unite() where no other thread is at work.
  ZHALO_HD void unite_alone(LocalIndex a, LocalIndex b) const {
    a = find(a);
    b = find(b);
    if (a < b) {
      parent[b] = a;
    } else {
      parent[a] = b;
    }
  }
};

// ---------------------------------------------------------------- one rank

/// Squared distances, computed in Real, up to within2 are friends for sure and those above reach2
/// are not; pairs between are decided in double. For Real = double both are the squared linking
/// length, and nothing lies between.
template <class Real>
struct Thresholds {
  Real within2 = 0;
  Real reach2 = 0;
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
  int walk_level = 0;  ///< one walk per node of this level of the walkers, 0 or 1: link_between()

  DisjointSets sets;
  Thresholds<Real> open;     ///< for distances that cross no periodic edge
  Thresholds<Real> wrapped;  ///< for distances that may
  Real period[3] = {};       ///< infinite where not periodic
  double exact_period[3] = {};
  double linking_length2 = 0;
  Real inner_lo[3] = {};  ///< a box inside [inner_lo, inner_hi] has no friends across an edge
  Real inner_hi[3] = {};
  Real open_extent[3] = {};  ///< particles in a box that is no longer have no friends in images

  void let_own_leaves_walk() {
    walkers = {this->tree, this->connected, this->first_in_sets};
    own_leaves_walk = true;
  }

  /// The definition, in float64 arithmetic: particle i of `a` and j of `b`, each the tree or the
  /// walkers.
  ZHALO_HD bool are_friends(const LinkedTree<Real>& a, Index i, const LinkedTree<Real>& b,
                            Index j) const {
    double d[3];
    for (int axis = 0; axis < 3; ++axis) {
      const double direct = fabs(static_cast<double>(a.tree.pos.axis[axis][i]) -
                                 static_cast<double>(b.tree.pos.axis[axis][j]));
      const double image = exact_period[axis] - direct;
      d[axis] = image < direct ? image : direct;
    }
    return fused(d[2], d[2], fused(d[1], d[1], d[0] * d[0])) <= linking_length2;
  }
};

/// Makes the parent array and links the particles inside each leaf.
template <class E, class Real>
void link_inside(const E& exec, const FofView<Real>& fof);

/// Links the leaves with each other.
template <class E, class Real>
void link_between(const E& exec, const FofView<Real>& fof);

/// smallest[root] = smallest index[i] among the i in the set of the root; elsewhere it is of no
/// use. T is LocalIndex (one rank: the caller's order) or Index (global indices).
template <class E, class T>
void find_smallest(const E& exec, const DisjointSets& sets, Span<const T> index, Span<T> smallest);

/// label[order[i]] = label_of_root[root of i]; without an order label[i]. All parents become roots.
template <class E, class T>
void write_labels(const E& exec, const DisjointSets& sets, Span<const LocalIndex> order,
                  Span<const T> label_of_root, Span<Index> label);

// ---------------------------------------------------------------- over ranks

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
  Index num_total = 0;          ///< particles of all ranks
};

/// A set of another rank (by a particle's index in the Z-order of all) that is joined with a set of
/// this rank; remote is -1 for none.
struct GhostEdge {
  Index remote = -1;
  LocalIndex local = 0;

  ZHALO_HD friend bool operator==(const GhostEdge& a, const GhostEdge& b) {
    return a.remote == b.remote && a.local == b.local;
  }
};

/// This rank's particles within reach of any of the boxes, ascending.
template <class E, class Real>
Buffer<LocalIndex> select_ghosts(const E& exec, const GhostSearch<Real>& search);
/// How many they are.
template <class E, class Real>
Index count_ghosts(const E& exec, const GhostSearch<Real>& search);

/// roots[i] = root of the set of particles[i].
template <class E>
void find_roots(const E& exec, const DisjointSets& sets, Span<const LocalIndex> particles,
                Span<LocalIndex> roots);

/// The edges between the sets of ghosts and those of this rank, each once, ascending by their
/// remote and then their local ends.
template <class E>
Buffer<GhostEdge> find_edges(const E& exec, const DisjointSets& sets, const GhostsView& ghosts);

}  // namespace zhalo::kernels
