// Friends of friends on the host, compiled like tree.cpp: links inside leaves, leaves near each
// other, and labels of sets.
#define ZHALO_BACKEND Host

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "kernels/host/dispatch.hpp"
#include "kernels/host/parallel.hpp"
// The loops come first: the texts of kernels/common are written in terms of them.
#include "kernels/common/fof/sets.hpp"
#include "kernels/lanes/lanes.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/host/fof.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/lanes/simd_lanes.inl.hpp"
// After the lanes.
#include "kernels/lanes/tree_lanes.inl.hpp"
// After distances.
#include "kernels/common/fof/leaf_pair.inl.hpp"
// After links.
#include "kernels/common/fof/walk.inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace zhalo::kernels::HWY_NAMESPACE {

// Linking the particles inside each leaf: all distances first, then the components. To measure only
// distances from particles that were reached takes fewer of them, but branches, and costs more.

template <class Lanes>
struct LinkInsideAtOnce : LinkInside<Lanes> {
  using Base = LinkInside<Lanes>;
  using Base::fof;
  using typename Base::Lane;
  struct Scratch {};

  void operator()(const Lanes& lanes, Index leaf, Scratch&) const {
    this->link_leaf(lanes, leaf, [&](const auto& metric, LocalIndex begin, Index num) {
      Friends friends;
      if (find_friends(lanes, metric, {begin, num}, friends)) [[unlikely]]
        decide({begin, num}, friends);
      return link_components({begin, num}, friends);
    });
  }

 private:
  /// Bit j of element i is set if the particles i and j of a leaf are friends.
  using Friends = std::uint64_t[max_leaf_size];

  struct Leaf {
    LocalIndex begin;
    Index num;
  };

  /// Returns whether only float64 can tell for some.
  template <class Metric>
  bool find_friends(const Lanes& lanes, const Metric& metric, const Leaf& leaf,
                    Friends& friends) const {
    constexpr int together = 4;  // vectors
    bool any_doubtful = false;
    for (Index j = 0; j < leaf.num; j += together * Lanes::size) {
      const auto find = [&]<int num_vectors>(std::integral_constant<int, num_vectors>) {
        any_doubtful |= find_friends_among<num_vectors>(lanes, metric, leaf, j, friends);
      };
      const Index left = leaf.num - j;
      if (left <= Lanes::size) {
        find(std::integral_constant<int, 1>{});
      } else if (left <= 2 * Lanes::size) {
        find(std::integral_constant<int, 2>{});
      } else if (left <= 3 * Lanes::size) {
        find(std::integral_constant<int, 3>{});
      } else {
        find(std::integral_constant<int, together>{});
      }
    }
    return any_doubtful;
  }

  /// Among some vectors of particles, from the j-th on.
  template <int num_vectors, class Metric>
  bool find_friends_among(const Lanes& lanes, const Metric& metric, const Leaf& leaf, Index j,
                          Friends& friends) const {
    Lane others[std::size_t{num_vectors}][3];
    for (int v = 0; v < num_vectors; ++v)
      this->load_particles(lanes, fof.tree, leaf.begin + j + Index{v} * Lanes::size, others[v]);
    const std::uint64_t in_leaf = first_bits(leaf.num - j);
    const hn::ScalableTag<typename Lanes::real> tag;
    const Lane reach2 = lanes.broadcast(metric.reach2);
    const Lane within2 = lanes.broadcast(metric.within2);
    auto doubtful = hn::FirstN(tag, 0);  // what follows the leaf counts, too: this is as rare
    for (Index i = 0; i < leaf.num; ++i) {
      Lane x[3];
      this->broadcast_particle(lanes, fof.tree, leaf.begin + i, x);
      std::uint64_t near = 0;
      for (int v = 0; v < num_vectors; ++v) {
        const Lane r2 = this->distance2(metric, x, others[v]);
        const auto is_near = r2 <= reach2;
        near |= lanes.ballot(is_near) << (v * Lanes::size);
        const auto is_certain = r2 <= within2;
        doubtful = hn::Or(doubtful, hn::AndNot(is_certain.value, is_near.value));
      }
      friends[i] = (j == 0 ? 0 : friends[i]) | (near & in_leaf) << j;
    }
    return !hn::AllFalse(tag, doubtful);
  }

  /// Few leaves need this.
  void decide(const Leaf& leaf, Friends& friends) const {
    for (Index i = 0; i < leaf.num; ++i) {
      for (std::uint64_t left = friends[i]; left != 0; left &= left - 1) {
        const int j = lowest_bit(left);
        if (!fof.are_friends(fof, leaf.begin + i, fof, leaf.begin + Index{j}))
          friends[i] &= ~(std::uint64_t{1} << j);
      }
    }
  }

  /// Flood fill. True if there is one component.
  bool link_components(const Leaf& leaf, const Friends& friends) const {
    const LocalIndex first = fof.first_in_sets + leaf.begin;
    LocalIndex* const parent = fof.sets.parent.data() + first;
    std::uint64_t left = 0;  // those that have friends; most have none where b is small
    for (Index i = 0; i < leaf.num; ++i) {
      parent[i] = first + static_cast<LocalIndex>(i);
      left |= friends[i] & ~(std::uint64_t{1} << i);
    }
    bool one_component = leaf.num == 1;
    while (left != 0) {
      const int seed = lowest_bit(left);
      std::uint64_t component = std::uint64_t{1} << seed;
      for (std::uint64_t frontier = component; frontier != 0;) {
        const std::uint64_t found = friends[lowest_bit(frontier)] & ~component;
        component |= found;
        frontier = (frontier & (frontier - 1)) | found;
      }
      left &= ~component;
      one_component = component == first_bits(leaf.num);
      const LocalIndex root = first + static_cast<LocalIndex>(seed);
      for (std::uint64_t members = component; members != 0; members &= members - 1)
        parent[lowest_bit(members)] = root;
    }
    return one_component;
  }
};

template <class Real>
void link_inside_at_once(const Host& exec, const FofView<Real>& fof) {
  for_each_with_lanes(exec, fof.tree.level_size[0], LinkInsideAtOnce<LanesOf<Real>>{{{{fof}}}},
                      LanesOf<Real>{});
}

// Which leaves are near the leaves that walk.

/// Leaves that walk, each with something that it is near. A list in two columns: whole vectors are
/// written.
template <class Lanes>
struct NearList {
  static constexpr int room = 512;

  LocalIndex walking[room + Lanes::size];
  LocalIndex near[room + Lanes::size];
  int num = 0;

  /// The leaf with each of the first + i whose bit i is set.
  void add(const Lanes& lanes, LocalIndex leaf, LocalIndex first, std::uint64_t bits) {
    ZHALO_EXPECT(num <= room);
    lanes.repeat_index(leaf, walking + num);
    lanes.compress_indices(bits, first, near + num);
    num += count_bits(bits);
  }
  bool has_room(int more) const { return num + more <= room; }
};

/// The walk of leaves below one node, and what they are near. There are no branches to guess: bits
/// become entries of lists, a vector at a time.
template <class Lanes, class WalkScratch>
struct FindNearLeaves : LinkWalk<Lanes, WalkScratch> {
  using Base = LinkWalk<Lanes, WalkScratch>;
  using Base::fof;
  using typename Base::Real;
  using typename Base::Walk;

 protected:
  /// For each walking leaf: which of some nodes are near, by their indices among these.
  template <class Metric>
  void find_near_nodes(const Lanes& lanes, const Metric& metric, const Walk& walk,
                       Span<const LocalIndex> some) const {
    NearList<Lanes>& found = walk.scratch.near_nodes;
    found.num = 0;
    ZHALO_EXPECT(
        found.has_room(static_cast<int>(this->leaves_below(fof.walk_level)) * Lanes::size));
    if (fof.tree.num_levels == 1) {
      for_each_walking(walk, [&](LocalIndex leaf) { found.add(lanes, leaf, 0, 1); });
      return;
    }
    Corners<Lanes> nodes;
    load_nodes(lanes, some, nodes);
    for_each_walking(walk, [&](LocalIndex leaf) {
      Corners<Lanes> box;
      this->broadcast_box(lanes, fof.walkers.tree, leaf, box);
      const std::uint64_t near = this->near_boxes(lanes, metric, box, nodes);
      found.add(lanes, leaf, 0, near & first_bits(some.size()));
    });
  }

  /// A walking leaf with those leaves of a node that are near.
  template <class Metric>
  void find_near_leaves(const Lanes& lanes, const Metric& metric, LocalIndex leaf, LocalIndex node,
                        NearList<Lanes>& found) const {
    Corners<Lanes> box;
    this->broadcast_box(lanes, fof.walkers.tree, leaf, box);
    for (int j = 0; j < fof.tree.fanout; j += Lanes::size) {
      const Index first = Index{node} * fof.tree.fanout + j;
      Corners<Lanes> boxes;
      this->load_boxes(lanes, fof.tree, first, boxes);
      std::uint64_t near = this->near_boxes(lanes, metric, box, boxes);
      near &= first_bits(fof.tree.fanout - j);
      // Earlier leaves have met this one.
      const Index met = fof.own_leaves_walk ? Index{leaf} + 1 - first : 0;
      near &= ~first_bits(std::clamp<Index>(met, 0, Lanes::size));
      found.add(lanes, leaf, static_cast<LocalIndex>(first), near);
    }
  }

 private:
  /// f(leaf) for the walking leaves that are not empty.
  template <class F>
  ZHALO_LANES_INLINE void for_each_walking(const Walk& walk, F f) const {
    const TreeView<Real>& tree = fof.walkers.tree;
    for (Index i = 0; i < this->leaves_below(fof.walk_level); ++i) {
      const Index leaf = walk.first_leaf + i;
      if (tree.leaf_begin[leaf] < tree.leaf_end[leaf]) f(static_cast<LocalIndex>(leaf));
    }
  }

  /// Boxes of nodes of level 1.
  void load_nodes(const Lanes& lanes, Span<const LocalIndex> some, Corners<Lanes>& nodes) const {
    Real lo[3][Lanes::size], hi[3][Lanes::size];
    for (int i = 0; i < Lanes::size; ++i) {
      const Index node = fof.tree.level_first[1] + Index{some[std::min<Index>(i, some.size() - 1)]};
      for (int axis = 0; axis < 3; ++axis) {
        lo[axis][i] = fof.tree.boxes.lo[axis][node];
        hi[axis][i] = fof.tree.boxes.hi[axis][node];
      }
    }
    for (int axis = 0; axis < 3; ++axis) {
      nodes.lo[axis] = lanes.load(lo[axis]);
      nodes.hi[axis] = lanes.load(hi[axis]);
    }
  }
};

}  // namespace zhalo::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

// After near leaves.
#include "kernels/host/staged_link.inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace zhalo::kernels::HWY_NAMESPACE {

ZHALO_TARGET_REALS(link_inside_at_once);
ZHALO_TARGET_REALS(link_between_in_stages);

}  // namespace zhalo::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace zhalo::kernels {

ZHALO_EXPORT_REALS(link_inside_at_once);
ZHALO_EXPORT_REALS(link_between_in_stages);

template <class E, class Real>
void link_inside(const E& exec, const FofView<Real>& fof) {
  ZHALO_BEST_TARGET(link_inside_at_once, Real)(exec, fof);
}
template <class E, class Real>
void link_between(const E& exec, const FofView<Real>& fof) {
  ZHALO_BEST_TARGET(link_between_in_stages, Real)(exec, fof);
}

ZHALO_INSTANTIATE_REALS(link_inside);
ZHALO_INSTANTIATE_REALS(link_between);

// From sets to labels: passes over the particles in order, and hardly any walks.

namespace {

/// The particles in [first, last), which one thread goes through in ascending order. All links
/// point down. So the element above i is done before i, and its own parent is where its set begins
/// in this part.
template <class T>
struct PartOfSets {
  DisjointSets sets;
  Span<const T> index;
  Span<T> smallest;
  LocalIndex first = 0, last = 0;

  /// Lets each particle point at the first of its set in this part, and notes the smallest index
  /// there. Reads and writes this part only. There is no branch: sizes of groups are random.
  void find_smallest() const {
    LocalIndex* const parent = sets.parent.data();
    for (LocalIndex i = first; i < last; ++i) {
      const LocalIndex linked = parent[i];
      const LocalIndex up = linked < first ? i : linked;
      const LocalIndex above = parent[up];
      const LocalIndex begin = above < first ? up : above;
      parent[i] = begin == i ? linked : begin;
      smallest[i] = index[i];
      smallest[begin] = std::min(smallest[begin], index[i]);
    }
  }

  /// Those of the elements [begin, end) whose sets begin in an earlier part tell it.
  void tell_earlier_parts(Index begin, Index end) const {
    for (auto i = static_cast<LocalIndex>(begin); i < end; ++i) {
      if (atomic_load(sets.parent[i]) < first) atomic_min(smallest[sets.find(i)], smallest[i]);
    }
  }
};

}  // namespace

template <class E, class T>
void find_smallest(const E& exec, const DisjointSets& sets, Span<const T> index, Span<T> smallest) {
  const OrderedParts parts(exec, index.size());
  const auto part = [&](Index p) {
    return PartOfSets<T>{sets, index, smallest, static_cast<LocalIndex>(parts.first(p)),
                         static_cast<LocalIndex>(parts.end(p))};
  };
  run_tasks(exec, parts.num(), [&](Index p) { part(p).find_smallest(); });
  if (parts.num() == 1) return;
  for_each_block(exec, parts, [&](Index p, Index first, Index last) {
    if (p > 0) part(p).tell_earlier_parts(first, last);
  });
}

ZHALO_INSTANTIATE(find_smallest, LocalIndex);
ZHALO_INSTANTIATE(find_smallest, Index);

}  // namespace zhalo::kernels
#endif
