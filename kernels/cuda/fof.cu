// Friends of friends on CUDA; links by a warp for each leaf or node.
#define ZHALO_BACKEND Cuda

#include "kernels/cuda/reduce.cuh"
#include "kernels/lanes/warp_lanes.cuh"
// The loops come first: the texts of kernels/common are written in terms of them.
#include "kernels/common/fof/sets.hpp"
// After the lanes.
#include "kernels/lanes/tree_lanes.inl.hpp"
// After distances.
#include "kernels/common/fof/leaf_pair.inl.hpp"
// After links.
#include "kernels/common/fof/walk.inl.hpp"

namespace zhalo::kernels {

/// Linking the particles inside each leaf by a warp: all distances first, then the components.
///
/// To measure only distances from particles that were reached, one after the other, took an H200
/// 2.4 times as long for the links of uniform particles.
template <class Real>
struct LinkInsideAtOnce : LinkInside<WarpLanes<Real>> {
  using Lanes = WarpLanes<Real>;
  using Base = LinkInside<Lanes>;
  using Base::fof;
  static constexpr int warps_at_once = sizeof(Real) == 4 ? 32 : 24;  ///< on a multiprocessor

  using typename Base::Position;
  struct Scratch {
    Position pos[max_leaf_size];
  };

  __device__ void operator()(const Lanes& lanes, Index leaf, Scratch& s) const {
    this->link_leaf(lanes, leaf, [&](const auto& metric, LocalIndex begin, Index num) {
      const Leaf in_scratch = load(lanes, begin, static_cast<int>(num), s);
      return in_scratch.num <= Lanes::size ? link<1>(lanes, metric, in_scratch)
                                           : link<2>(lanes, metric, in_scratch);
    });
  }

 private:
  struct Leaf {
    LocalIndex begin;
    int num;
    const Position* pos;
  };

  /// A bit for each particle of a leaf; a leaf has as many as `parts` warps have lanes.
  template <int parts>
  using Bits = std::conditional_t<parts == 1, std::uint32_t, std::uint64_t>;

  __device__ Leaf load(const Lanes& lanes, LocalIndex begin, int num, Scratch& s) const {
    lanes.for_few(num, [&](Index i) {
      for (int axis = 0; axis < 3; ++axis) s.pos[i].x[axis] = fof.tree.pos.axis[axis][begin + i];
    });
    lanes.sync();
    return {begin, num, s.pos};
  }

  /// True if the leaf is one component. Each lane has one particle of each part.
  template <int parts, class Metric>
  __device__ bool link(const Lanes& lanes, const Metric& metric, const Leaf& leaf) const {
    Bits<parts> friends[std::size_t{parts}];
    bool have_friends = false;
    ZHALO_UNROLL
    for (int part = 0; part < parts; ++part) {
      const int i = part * Lanes::size + Lanes::own();
      friends[part] = i < leaf.num ? friends_of<parts>(metric, leaf, i) : 0;
      have_friends = have_friends || (friends[part] & (friends[part] - 1)) != 0;
    }
    const LocalIndex first = fof.first_in_sets + leaf.begin;
    if (!lanes.any(have_friends)) {
      lanes.for_few(leaf.num, [&](Index i) {
        fof.sets.parent[first + i] = first + static_cast<LocalIndex>(i);
      });
      return leaf.num == 1;
    }
    return link_components<parts>(lanes, leaf, friends);
  }

  /// Particle i itself is among them.
  template <int parts, class Metric>
  __device__ Bits<parts> friends_of(const Metric& metric, const Leaf& leaf, int i) const {
    const Position own = leaf.pos[i];
    Bits<parts> near = 0;
    Bits<parts> certain = 0;
    for (int j = 0; j < leaf.num; ++j) {
      const Position other = leaf.pos[j];
      const Real r2 = Base::distance2(metric, own.x, other.x);
      near |= static_cast<Bits<parts>>(r2 <= metric.reach2) << j;
      certain |= static_cast<Bits<parts>>(r2 <= metric.within2) << j;
    }
    for (Bits<parts> left = near & ~certain; left != 0; left &= left - 1) {
      const int j = lowest_bit(left);
      if (!fof.are_friends(fof, Index{leaf.begin} + i, fof, Index{leaf.begin} + j))
        near &= ~(Bits<parts>{1} << j);
    }
    return near;
  }

  template <int parts>
  __device__ bool link_components(const Lanes& lanes, const Leaf& leaf,
                                  const Bits<parts> (&friends)[std::size_t{parts}]) const {
    const LocalIndex first = fof.first_in_sets + leaf.begin;
    int root[std::size_t{parts}];
    ZHALO_UNROLL
    for (int part = 0; part < parts; ++part) root[part] = part * Lanes::size + Lanes::own();
    // Those that have no friends are their own roots already.
    auto left =
        united<parts>(lanes, friends, [](Bits<parts> own, int) { return (own & (own - 1)) != 0; });
    bool one_component = false;
    while (left != 0) {
      const int seed = lowest_bit(left);
      Bits<parts> component = 0;
      for (Bits<parts> found = Bits<parts>{1} << seed; found != component;) {
        component = found;
        found = united<parts>(lanes, friends,
                              [&](Bits<parts>, int i) { return (component >> i & 1) != 0; });
      }
      left &= ~component;
      one_component = component == static_cast<Bits<parts>>(first_bits(leaf.num));
      ZHALO_UNROLL
      for (int part = 0; part < parts; ++part)
        if (component >> (part * Lanes::size + Lanes::own()) & 1) root[part] = seed;
    }
    ZHALO_UNROLL
    for (int part = 0; part < parts; ++part) {
      const int i = part * Lanes::size + Lanes::own();
      if (i < leaf.num) fof.sets.parent[first + i] = first + static_cast<LocalIndex>(root[part]);
    }
    return one_component;
  }

  /// Friends of all particles i for which counts(friends of i, i) is true.
  template <int parts, class Counts>
  __device__ Bits<parts> united(const Lanes& lanes,
                                const Bits<parts> (&friends)[std::size_t{parts}],
                                const Counts& counts) const {
    Bits<parts> own = 0;
    ZHALO_UNROLL
    for (int part = 0; part < parts; ++part)
      if (counts(friends[part], part * Lanes::size + Lanes::own())) own |= friends[part];
    return lanes.united(own);
  }
};

template <class E, class Real>
void link_inside(const E& exec, const FofView<Real>& fof) {
  for_each_with_lanes(exec, fof.tree.level_size[0], LinkInsideAtOnce<Real>{{{{fof}}}},
                      WarpLanes<Real>{});
}

/// Notes the index of each root.
template <class T>
struct StartSmallest {
  DisjointSets sets;
  Span<const T> index;
  Span<T> smallest;

  ZHALO_HD void operator()(Index i) const {
    if (sets.parent[i] == static_cast<LocalIndex>(i)) smallest[i] = index[i];
  }
};

/// Notes the smallest index of each set at its root.
template <class T>
struct FindSmallest {
  DisjointSets sets;
  Span<const T> index;
  Span<T> smallest;

  ZHALO_HD void operator()(Index i) const {
    const LocalIndex root = sets.find(static_cast<LocalIndex>(i));
    if (root != static_cast<LocalIndex>(i)) atomic_min(smallest[root], index[i]);
  }
};

template <class E, class T>
void find_smallest(const E& exec, const DisjointSets& sets, Span<const T> index, Span<T> smallest) {
  for_each(exec, index.size(), StartSmallest<T>{sets, index, smallest});
  for_each(exec, index.size(), FindSmallest<T>{sets, index, smallest});
}

ZHALO_INSTANTIATE_REALS(link_inside);
ZHALO_INSTANTIATE(find_smallest, LocalIndex);
ZHALO_INSTANTIATE(find_smallest, Index);

}  // namespace zhalo::kernels
