// Which leaves are near the leaves that walk, on a host. No include guard: compiled once for each
// vector target.

HWY_BEFORE_NAMESPACE();
namespace zhalo::kernels::HWY_NAMESPACE {

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
  /// For each walking leaf: which of some nodes are near, by their places among these.
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
