// Linking leaves with each other, for any Lanes. No include guard: compiled once for each kind
// of Lanes.

ZHALO_LANES_BEGIN
namespace ZHALO_LANES_NAMESPACE {

/// Boxes of as many leaves as there are lanes.
template <class Lanes>
struct StoredBoxes {
  typename Lanes::real lo[3][Lanes::size];
  typename Lanes::real hi[3][Lanes::size];
};

/// Memory of one walk: its stack, nodes of level 1 that are near, and boxes. A device has too few
/// registers for these.
template <class Lanes>
struct LinkScratch {
  static constexpr int max_stack = 384;
  static constexpr int max_nodes = 256;

  std::uint32_t stack[max_stack];
  LocalIndex nodes[max_nodes];
  StoredBoxes<Lanes> walking;  ///< of leaves that walk
  StoredBoxes<Lanes> others;   ///< of leaves that they meet
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

  /// Which of the boxes in the lanes are within reach of a node of level 1.
  template <class Metric>
  ZHALO_LANES_INLINE ZHALO_HD std::uint64_t near_node(const Lanes& lanes, const Metric& metric,
                                                      Index node,
                                                      const Corners<Lanes>& boxes) const {
    if (fof.tree.num_levels == 1) return lanes.ballot(boxes.lo[0] <= boxes.hi[0]);
    Corners<Lanes> box;
    this->broadcast_box(lanes, fof.tree, fof.tree.level_first[1] + node, box);
    return near_boxes(lanes, metric, box, boxes);
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
    // One place links, so that the text of linking is compiled in once.
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

  ZHALO_HD void operator()(const Lanes& lanes, Index item, Scratch& s) const {
    this->walk_from(lanes, item, s,
                    [&](const auto& metric, Walk& walk) { link_near(lanes, metric, walk); });
  }

 private:
  /// Leaves of the tree, one for each lane.
  struct LeafVector {
    Index first;
    int num;
    LocalIndex begin;        ///< each lane's own
    std::uint8_t connected;  ///< each lane's own
  };

  template <class Metric>
  ZHALO_HD void link_near(const Lanes& lanes, const Metric& metric, Walk& walk) const {
    if (fof.walk_level == 0) put_box(lanes, walk);
    lanes.sync();
    for (int n = 0; n < walk.num_nodes; ++n) {
      const Index node = walk.scratch.nodes[n];
      for (int j = 0; j < fof.tree.fanout; j += Lanes::size) {
        LeafVector others;
        others.first = node * fof.tree.fanout + j;
        others.num = fof.tree.fanout - j < Lanes::size ? fof.tree.fanout - j : Lanes::size;
        put_boxes(lanes, fof.tree, others.first, walk.scratch.others);
        others.begin = lanes.own(fof.tree.leaf_begin + others.first);
        others.connected = lanes.own(fof.connected + others.first);
        if (fof.walk_level > 0) {
          link_walkers(lanes, metric, walk, node, others);
        } else {
          link_walker(lanes, metric, walk, {walk.first_leaf, 0}, others);
        }
      }
    }
    lanes.sync();
  }

  /// A leaf that walks, and where its box is in scratch memory.
  struct Walker {
    Index leaf;
    int at;
  };

  ZHALO_HD void put_box(const Lanes& lanes, const Walk& walk) const {
    StoredBoxes<Lanes>& to = walk.scratch.walking;
    const auto& boxes = fof.walkers.tree.boxes;
    lanes.sync();
    lanes.one([&] {
      for (int axis = 0; axis < 3; ++axis) {
        to.lo[axis][0] = boxes.lo[axis][walk.first_leaf];
        to.hi[axis][0] = boxes.hi[axis][walk.first_leaf];
      }
    });
    lanes.sync();
  }

  ZHALO_HD static void put_boxes(const Lanes& lanes, const TreeView<Real>& tree, Index first,
                                 StoredBoxes<Lanes>& to) {
    lanes.sync();
    for (int axis = 0; axis < 3; ++axis) {
      lanes.store(lanes.load(tree.boxes.lo[axis] + first), to.lo[axis]);
      lanes.store(lanes.load(tree.boxes.hi[axis] + first), to.hi[axis]);
    }
    lanes.sync();
  }

  ZHALO_HD static Corners<Lanes> stored_box(const Lanes& lanes, const StoredBoxes<Lanes>& boxes,
                                            int at) {
    Corners<Lanes> box;
    for (int axis = 0; axis < 3; ++axis) {
      box.lo[axis] = lanes.broadcast(boxes.lo[axis][at]);
      box.hi[axis] = lanes.broadcast(boxes.hi[axis][at]);
    }
    return box;
  }

  ZHALO_HD static Corners<Lanes> stored_boxes(const Lanes& lanes, const StoredBoxes<Lanes>& boxes) {
    Corners<Lanes> all;
    for (int axis = 0; axis < 3; ++axis) {
      all.lo[axis] = lanes.load(boxes.lo[axis]);
      all.hi[axis] = lanes.load(boxes.hi[axis]);
    }
    return all;
  }

  /// Links those of the walking leaves that are near a node with some of that node's leaves.
  template <class Metric>
  ZHALO_HD void link_walkers(const Lanes& lanes, const Metric& metric, const Walk& walk, Index node,
                             const LeafVector& others) const {
    const int num = static_cast<int>(this->leaves_below(fof.walk_level));
    for (int at = 0; at < num; at += Lanes::size) {
      const Index first = walk.first_leaf + at;
      put_boxes(lanes, fof.walkers.tree, first, walk.scratch.walking);
      const Corners<Lanes> boxes = stored_boxes(lanes, walk.scratch.walking);
      std::uint64_t near = this->near_node(lanes, metric, node, boxes) & first_bits(num - at);
      for (; near != 0; near &= near - 1) {
        const int lane = lowest_bit(near);
        link_walker(lanes, metric, walk, {first + lane, lane}, others);
      }
    }
  }

  /// Links a leaf with those of the tree that are near and not in one set with it.
  template <class Metric>
  ZHALO_HD void link_walker(const Lanes& lanes, const Metric& metric, const Walk& walk,
                            const Walker& walker, const LeafVector& others) const {
    std::uint64_t near =
        this->near_boxes(lanes, metric, stored_box(lanes, walk.scratch.walking, walker.at),
                         stored_boxes(lanes, walk.scratch.others)) &
        first_bits(others.num);
    // Earlier leaves have met this one.
    if (fof.own_leaves_walk && others.first <= walker.leaf)
      near &= ~first_bits(walker.leaf + 1 - others.first);
    if (near == 0) return;
    const Leaf a = this->leaf_of(fof.walkers, walker.leaf);
    if (a.connected) {
      const LocalIndex set = this->set_of(fof.walkers, a.begin);
      near = lanes.filter(near, [&](int i) {
        if (lanes.of_own(others.connected, fof.connected + others.first, i) == 0) return true;
        const LocalIndex begin = lanes.of_own(others.begin, fof.tree.leaf_begin + others.first, i);
        return !fof.sets.is_below(fof.first_in_sets + begin, set);
      });
      if (near == 0) return;
    }
    Lane first_x[3];
    this->load_particles(lanes, fof.walkers.tree, a.begin, first_x);
    const auto box_of_a = [&] { return stored_box(lanes, walk.scratch.walking, walker.at); };
    for (; near != 0; near &= near - 1) {
      const int lane = lowest_bit(near);
      const Leaf b = this->leaf_of(fof, others.first + lane);
      const auto box_of_b = [&] { return stored_box(lanes, walk.scratch.others, lane); };
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
