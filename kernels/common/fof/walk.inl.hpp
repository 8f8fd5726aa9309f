// Linking leaves with each other, for any Lanes. No include guard: compiled once for each kind
// of Lanes.

ZHALO_LANES_BEGIN
namespace ZHALO_LANES_NAMESPACE {

/// As many leaves as there are lanes.
template <class Lanes>
struct StoredLeaves {
  typename Lanes::real lo[3][Lanes::size];
  typename Lanes::real hi[3][Lanes::size];
  LocalIndex begin[Lanes::size];
  LocalIndex end[Lanes::size];
  std::uint8_t connected[Lanes::size];
};

/// Memory of one walk: its stack, nodes of level 1 that are near, and leaves. A device has too few
/// registers for these.
template <class Lanes>
struct LinkScratch {
  static constexpr int max_stack = 384;
  static constexpr int max_nodes = 256;

  std::uint32_t stack[max_stack];
  LocalIndex nodes[max_nodes];
  StoredLeaves<Lanes> walking;
  StoredLeaves<Lanes> others;  ///< that they meet
};

/// The walk of the leaves below one node through the tree. It collects the nodes of level 1 within
/// the linking length in a bounded list.
template <class Lanes, class WalkScratch>
struct LinkWalk : LinkLeafPair<Lanes> {
  using Base = LinkLeafPair<Lanes>;
  using Base::fof;
  using typename Base::Lane;
  using typename Base::Real;
  using typename Base::Siblings;
  using Scratch = WalkScratch;

 protected:
  /// The leaves that walk together, and how far they are.
  struct Walk {
    Index item;
    Index first_leaf;
    Scratch& scratch;
    int num_nodes = 0;
    int height = 0;
    Index stored = -1;  ///< the first of the walking leaves that are in scratch memory
  };

  /// Calls link(metric, walk) for each list of nodes.
  template <class Link>
  ZHALO_HD void walk_from(const Lanes& lanes, Index item, Scratch& s, const Link& link) const {
    const Index node = fof.walkers.tree.level_first[fof.walk_level] + item;
    Real lo[3], hi[3];
    for (int axis = 0; axis < 3; ++axis) {
      lo[axis] = fof.walkers.tree.boxes.lo[axis][node];
      hi[axis] = fof.walkers.tree.boxes.hi[axis][node];
    }
    if (!(lo[0] <= hi[0])) return;
    Walk walk{item, item * leaves_below(fof.walk_level), s};
    if (this->near_edge(lo, hi)) {
      start(lanes, PeriodicMetric<Lanes>(lanes, fof), walk, link);
    } else {
      start(lanes, OpenMetric<Lanes>(lanes, fof), walk, link);
    }
  }

  ZHALO_HD Index leaves_below(int level) const {
    Index leaves = 1;
    for (int p = 0; p < level; ++p) leaves *= fof.tree.fanout;
    return leaves;
  }

  /// Which of the boxes in the lanes are within reach of the box.
  template <class Metric>
  ZHALO_LANES_INLINE ZHALO_HD std::uint64_t near_boxes(const Lanes& lanes, const Metric& metric,
                                                       const Corners<Lanes>& box,
                                                       const Corners<Lanes>& boxes) const {
    const Lane r2 = this->gap2(metric, box, boxes, lanes.broadcast(0));
    std::uint64_t near = lanes.ballot(r2 <= lanes.broadcast(metric.reach2));
    if (Metric::periodic)
      near &= lanes.ballot(boxes.lo[0] <= boxes.hi[0]);  // an image of an empty box is not far
    return near;
  }

 private:
  template <class Metric, class Link>
  ZHALO_HD void start(const Lanes& lanes, const Metric& metric, Walk& walk,
                      const Link& link) const {
    if (fof.tree.num_levels == 1) {
      lanes.one([&] { walk.scratch.nodes[0] = 0; });
      walk.num_nodes = 1;
    } else {
      // The top level is one node's worth of children: it is expanded as if a node 0 lay above.
      this->push(lanes, walk, fof.tree.num_levels, 0);
    }
    // One call links, so that the text of linking is compiled in once.
    while (true) {
      if (walk.height == 0 || walk.num_nodes + fof.tree.fanout > Scratch::max_nodes) {
        link(metric, walk);
        if (walk.height == 0) return;
        walk.num_nodes = 0;
      }
      expand(lanes, metric, this->pop(lanes, walk, fof.tree), walk);
    }
  }

  template <class Metric>
  ZHALO_HD void expand(const Lanes& lanes, const Metric& metric, const Siblings& siblings,
                       Walk& walk) const {
    Corners<Lanes> box;  // loaded again each time: on a device, registers are dearer
    this->broadcast_box(lanes, fof.walkers.tree,
                        fof.walkers.tree.level_first[fof.walk_level] + walk.item, box);
    // Nodes before it hold earlier leaves only.
    const Index lowest = fof.own_leaves_walk ? walk.first_leaf / leaves_below(siblings.level) : 0;
    std::uint64_t near =
        near_nodes(lanes, metric, box, fof.tree.level_first[siblings.level] + siblings.first);
    if (lowest > siblings.first) near &= ~first_bits(lowest - siblings.first);
    for (; near != 0; near &= near - 1) {
      const Index node = siblings.first + lowest_bit(near);
      if (siblings.level > 1) {
        this->push(lanes, walk, siblings.level, node);
      } else {
        lanes.one([&] { walk.scratch.nodes[walk.num_nodes] = static_cast<LocalIndex>(node); });
        ++walk.num_nodes;
      }
    }
  }

  /// Which of the `fanout` nodes from `first` on (index in the boxes' arrays) are within reach of
  /// the box.
  template <class Metric>
  ZHALO_LANES_INLINE ZHALO_HD std::uint64_t near_nodes(const Lanes& lanes, const Metric& metric,
                                                       const Corners<Lanes>& box,
                                                       Index first) const {
    std::uint64_t near = 0;
    for (int j = 0; j < fof.tree.fanout; j += Lanes::size) {
      Corners<Lanes> boxes;
      this->load_boxes(lanes, fof.tree, first + j, boxes);
      near |= near_boxes(lanes, metric, box, boxes) << j;
    }
    return near & first_bits(fof.tree.fanout);
  }
};

/// Links the leaves below one node with all leaves of the tree that are near: with those from the
/// node on where the tree's own leaves walk, so that each pair of leaves is met once.
///
/// For each near node of level 1, the walking leaves that are near it are tested against its
/// leaves. Pairs of leaves that are not in one set already are linked particle by particle.
template <class Lanes>
struct LinkBetween : LinkWalk<Lanes, LinkScratch<Lanes>> {
  using Base = LinkWalk<Lanes, LinkScratch<Lanes>>;
  using Base::fof;
  using typename Base::Lane;
  using typename Base::Leaf;
  using typename Base::Real;
  using typename Base::Scratch;
  using typename Base::Walk;
  static constexpr int warps_at_once = sizeof(Real) == 8 ? 20 : 24;  ///< on a multiprocessor
  /// Walks in a halo take 6 times as long as the mean. On an H200 blocks of 4 warps, which end with
  /// their last one, had 12 of 24 warps at work.
  static constexpr int warps_in_block = 1;

  ZHALO_HD void operator()(const Lanes& lanes, Index item, Scratch& s) const {
    this->walk_from(lanes, item, s,
                    [&](const auto& metric, Walk& walk) { link_near(lanes, metric, walk); });
  }

 private:
  template <class Metric>
  ZHALO_HD void link_near(const Lanes& lanes, const Metric& metric, Walk& walk) const {
    lanes.sync();
    for (int n = 0; n < walk.num_nodes; ++n) {
      const Index node = walk.scratch.nodes[n];
      for (int j = 0; j < fof.tree.fanout; j += Lanes::size) {
        const int num = fof.tree.fanout - j < Lanes::size ? fof.tree.fanout - j : Lanes::size;
        const LeafRange others{node * fof.tree.fanout + j, num};
        put_leaves(lanes, fof, others, walk.scratch.others);
        link_walkers(lanes, metric, walk, node, others);
      }
    }
    lanes.sync();
  }

  /// Leaves, of which each lane may have one.
  struct LeafRange {
    Index first;
    int num;
  };

  ZHALO_HD static void put_leaves(const Lanes& lanes, const LinkedTree<Real>& of,
                                  const LeafRange& leaves, StoredLeaves<Lanes>& to) {
    lanes.sync();
    lanes.for_few(leaves.num, [&](Index i) {
      const Index leaf = leaves.first + i;
      for (int axis = 0; axis < 3; ++axis) {
        to.lo[axis][i] = of.tree.boxes.lo[axis][leaf];
        to.hi[axis][i] = of.tree.boxes.hi[axis][leaf];
      }
      to.begin[i] = of.tree.leaf_begin[leaf];
      to.end[i] = of.tree.leaf_end[leaf];
      to.connected[i] = of.connected[leaf];
    });
    lanes.sync();
  }

  ZHALO_HD static Corners<Lanes> stored_box(const Lanes& lanes, const StoredLeaves<Lanes>& leaves,
                                            int at) {
    Corners<Lanes> box;
    for (int axis = 0; axis < 3; ++axis) {
      box.lo[axis] = lanes.broadcast(leaves.lo[axis][at]);
      box.hi[axis] = lanes.broadcast(leaves.hi[axis][at]);
    }
    return box;
  }

  ZHALO_HD static Corners<Lanes> stored_boxes(const Lanes& lanes,
                                              const StoredLeaves<Lanes>& leaves) {
    Corners<Lanes> all;
    for (int axis = 0; axis < 3; ++axis) {
      all.lo[axis] = lanes.load(leaves.lo[axis]);
      all.hi[axis] = lanes.load(leaves.hi[axis]);
    }
    return all;
  }

  ZHALO_HD static Leaf stored_leaf(const StoredLeaves<Lanes>& leaves, Index leaf, int at) {
    return {leaves.begin[at], leaves.end[at], leaf, leaves.connected[at] != 0};
  }

  /// Which of the boxes in the lanes are within reach of a node of level 1.
  template <class Metric>
  ZHALO_LANES_INLINE ZHALO_HD std::uint64_t near_node(const Lanes& lanes, const Metric& metric,
                                                      Index node,
                                                      const Corners<Lanes>& boxes) const {
    if (fof.tree.num_levels == 1) return lanes.ballot(boxes.lo[0] <= boxes.hi[0]);
    Corners<Lanes> box;
    this->broadcast_box(lanes, fof.tree, fof.tree.level_first[1] + node, box);
    return this->near_boxes(lanes, metric, box, boxes);
  }

  /// Links those of the walking leaves that are near a node with some of that node's leaves.
  template <class Metric>
  ZHALO_HD void link_walkers(const Lanes& lanes, const Metric& metric, Walk& walk, Index node,
                             const LeafRange& others) const {
    const int num_walking = static_cast<int>(this->leaves_below(fof.walk_level));
    for (int at = 0; at < num_walking; at += Lanes::size) {
      const int num = num_walking - at < Lanes::size ? num_walking - at : Lanes::size;
      const LeafRange walking{walk.first_leaf + at, num};
      if (walk.stored != walking.first)
        put_leaves(lanes, fof.walkers, walking, walk.scratch.walking);
      walk.stored = walking.first;
      auto near = static_cast<std::uint32_t>(first_bits(num));
      if (num_walking > 1)
        near &= static_cast<std::uint32_t>(
            this->near_node(lanes, metric, node, stored_boxes(lanes, walk.scratch.walking)));
      for (; near != 0; near &= near - 1)
        link_walker(lanes, metric, walk, walking.first, {lowest_bit(near), others});
    }
  }

  /// A leaf that walks, by its index in scratch memory, and those that it meets.
  struct Meeting {
    int at;
    const LeafRange& others;
  };

  /// Links a leaf with those of the tree that are near and not in one set with it.
  template <class Metric>
  ZHALO_HD void link_walker(const Lanes& lanes, const Metric& metric, const Walk& walk,
                            Index first_walking, const Meeting& meeting) const {
    const LeafRange& others = meeting.others;
    const StoredLeaves<Lanes>& met = walk.scratch.others;
    const Index walking = first_walking + meeting.at;
    auto near = static_cast<std::uint32_t>(
        this->near_boxes(lanes, metric, stored_box(lanes, walk.scratch.walking, meeting.at),
                         stored_boxes(lanes, met)) &
        first_bits(others.num));
    // Earlier leaves have met this one.
    if (fof.own_leaves_walk && others.first <= walking)
      near &= static_cast<std::uint32_t>(~first_bits(walking + 1 - others.first));
    if (near == 0) return;
    const Leaf a = stored_leaf(walk.scratch.walking, walking, meeting.at);
    if (a.connected) {
      const LocalIndex set = this->set_of(fof.walkers, a.begin);
      near = static_cast<std::uint32_t>(lanes.filter(near, [&](int i) {
        return met.connected[i] == 0 || !fof.sets.is_below(fof.first_in_sets + met.begin[i], set);
      }));
      if (near == 0) return;
    }
    Lane first_x[3];
    this->load_some(lanes, fof.walkers.tree, a.begin, a.end - a.begin, first_x);
    const auto box_of_a = [&] { return stored_box(lanes, walk.scratch.walking, meeting.at); };
    for (; near != 0; near &= near - 1) {
      const int lane = lowest_bit(near);
      const Leaf b = stored_leaf(met, others.first + lane, lane);
      const auto box_of_b = [&] { return stored_box(lanes, met, lane); };
      this->link_leaves(lanes, metric, {a, first_x, b}, box_of_a, box_of_b);
    }
  }
};

template <class E, class Real>
void link_between(const E& exec, const FofView<Real>& fof) {
  const TreeView<Real>& walkers = fof.walkers.tree;
  const bool are_many = walkers.num_levels > 1 && walkers.level_size[1] >= items_at_once(exec);
  LinkBetween<LanesOf<Real>> link{{fof}};
  link.fof.walk_level = are_many ? 1 : 0;
  for_each_with_lanes(exec, walkers.level_size[link.fof.walk_level], link, LanesOf<Real>{});
}

ZHALO_INSTANTIATE_LANES(link_between);

}  // namespace ZHALO_LANES_NAMESPACE
ZHALO_LANES_END
