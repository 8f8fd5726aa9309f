// Linking leaves with each other, for any Lanes. No include guard: compiled once for each kind
// of Lanes.

ZHALO_LANES_BEGIN
namespace ZHALO_LANES_NAMESPACE {

/// Memory of one group: the walk's stack, and nodes of level 1 that are near.
struct LinkScratch {
  static constexpr int max_stack = 384;
  static constexpr int max_nodes = 256;

  std::uint32_t stack[max_stack];
  LocalIndex nodes[max_nodes];
};

/// Links the leaves below one node with all leaves of the tree that are near: with those from the
/// node on where the tree's own leaves walk, so that each pair of leaves is met once.
///
/// A stack walk from the top level collects, in a bounded list, the nodes of level 1 within the
/// linking length; each leaf is tested against their leaves, and pairs of leaves that are not in
/// one set already are linked particle by particle.
template <class Lanes>
struct LinkBetween : FofLanes<Lanes> {
  using Base = FofLanes<Lanes>;
  using Base::fof;
  using typename Base::Lane;
  using typename Base::Real;
  using typename Base::Siblings;
  using Scratch = LinkScratch;

  ZHALO_HD void operator()(const Lanes& lanes, Index item, Scratch& s) const {
    const Index node = fof.walkers.tree.level_first[fof.walk_level] + item;
    Real lo[3], hi[3];
    for (int axis = 0; axis < 3; ++axis) {
      lo[axis] = fof.walkers.tree.boxes.lo[axis][node];
      hi[axis] = fof.walkers.tree.boxes.hi[axis][node];
    }
    if (!(lo[0] <= hi[0])) return;
    if (this->near_edge(lo, hi)) {
      start(lanes, PeriodicMetric<Lanes>(lanes, fof), item, s);
    } else {
      start(lanes, OpenMetric<Lanes>(lanes, fof), item, s);
    }
  }

 private:
  /// A leaf, with what is asked of it again and again.
  struct Leaf {
    LocalIndex begin;
    LocalIndex end;
    Index leaf;
    bool connected;
  };

  ZHALO_HD static Leaf leaf_of(const LinkedTree<Real>& of, Index leaf) {
    return {of.tree.leaf_begin[leaf], of.tree.leaf_end[leaf], leaf, of.connected[leaf] != 0};
  }

  ZHALO_HD Index leaves_below(int level) const {
    Index leaves = 1;
    for (int p = 0; p < level; ++p) leaves *= fof.tree.fanout;
    return leaves;
  }

  template <class Metric>
  ZHALO_HD void start(const Lanes& lanes, const Metric& metric, Index item, Scratch& s) const {
    Walk walk{item, item * leaves_below(fof.walk_level), s};
    if (fof.tree.num_levels == 1) {
      lanes.one([&] { s.nodes[0] = 0; });
      walk.num_nodes = 1;
    } else {
      // The top level is one node's worth of children: it is expanded as if a node 0 lay above.
      this->push(lanes, walk, fof.tree.num_levels, 0);
    }
    // One place links, so that the text of linking is compiled in once.
    while (true) {
      if (walk.height == 0 || walk.num_nodes + fof.tree.fanout > Scratch::max_nodes) {
        link_near(lanes, metric, walk);
        if (walk.height == 0) return;
        walk.num_nodes = 0;
      }
      expand(lanes, metric, this->pop(lanes, walk, fof.tree), walk);
    }
  }

  /// The leaves that walk together, and how far they are.
  struct Walk {
    Index item;
    Index first_leaf;
    Scratch& scratch;
    int num_nodes = 0;
    int height = 0;
  };

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

  /// Which of the boxes in the lanes are within reach of the box.
  template <class Metric>
  ZHALO_HD std::uint64_t near_boxes(const Lanes& lanes, const Metric& metric,
                                    const Corners<Lanes>& box, const Corners<Lanes>& boxes) const {
    const Lane r2 = this->gap2(metric, box, boxes, lanes.broadcast(0));
    std::uint64_t near = lanes.ballot(r2 <= lanes.broadcast(metric.reach2));
    if (Metric::periodic)
      near &= lanes.ballot(boxes.lo[0] <= boxes.hi[0]);  // an image of an empty box is not far
    return near;
  }

  /// Which of the `fanout` nodes from `first` on (index in the boxes' arrays) are within reach of
  /// the box.
  template <class Metric>
  ZHALO_HD std::uint64_t near_nodes(const Lanes& lanes, const Metric& metric,
                                    const Corners<Lanes>& box, Index first) const {
    std::uint64_t near = 0;
    for (int j = 0; j < fof.tree.fanout; j += Lanes::size) {
      Corners<Lanes> boxes;
      this->load_boxes(lanes, fof.tree, first + j, boxes);
      near |= near_boxes(lanes, metric, box, boxes) << j;
    }
    return near & first_bits(fof.tree.fanout);
  }

  /// Leaves of the tree, one for each lane.
  struct LeafVector {
    Index first;
    int num;
    Corners<Lanes> boxes;
    LocalIndex begin;        ///< each lane's own
    std::uint8_t connected;  ///< each lane's own
  };

  template <class Metric>
  ZHALO_HD void link_near(const Lanes& lanes, const Metric& metric, Walk& walk) const {
    lanes.sync();
    for (int n = 0; n < walk.num_nodes; ++n) {
      const Index node = walk.scratch.nodes[n];
      for (int j = 0; j < fof.tree.fanout; j += Lanes::size) {
        LeafVector others;
        others.first = node * fof.tree.fanout + j;
        others.num = fof.tree.fanout - j < Lanes::size ? fof.tree.fanout - j : Lanes::size;
        this->load_boxes(lanes, fof.tree, others.first, others.boxes);
        others.begin = lanes.own(fof.tree.leaf_begin + others.first);
        others.connected = lanes.own(fof.connected + others.first);
        if (fof.walk_level > 0) {
          link_walkers(lanes, metric, walk, node, others);
        } else {
          Walker walker{walk.first_leaf, {}};
          this->broadcast_box(lanes, fof.walkers.tree, walker.leaf, walker.box);
          link_walker(lanes, metric, walker, others);
        }
      }
    }
    lanes.sync();
  }

  /// A leaf that walks.
  struct Walker {
    Index leaf;
    Corners<Lanes> box;
  };

  /// Which of the boxes in the lanes are within reach of a node of level 1.
  template <class Metric>
  ZHALO_HD std::uint64_t near_node(const Lanes& lanes, const Metric& metric, Index node,
                                   const Corners<Lanes>& boxes) const {
    if (fof.tree.num_levels == 1) return lanes.ballot(boxes.lo[0] <= boxes.hi[0]);
    Corners<Lanes> box;
    this->broadcast_box(lanes, fof.tree, fof.tree.level_first[1] + node, box);
    return near_boxes(lanes, metric, box, boxes);
  }

  /// Links those of the walking leaves that are near a node with some of that node's leaves.
  template <class Metric>
  ZHALO_HD void link_walkers(const Lanes& lanes, const Metric& metric, const Walk& walk, Index node,
                             const LeafVector& others) const {
    const int num = static_cast<int>(leaves_below(fof.walk_level));
    for (int at = 0; at < num; at += Lanes::size) {
      const Index first = walk.first_leaf + at;
      Corners<Lanes> boxes;
      this->load_boxes(lanes, fof.walkers.tree, first, boxes);
      std::uint64_t near = near_node(lanes, metric, node, boxes) & first_bits(num - at);
      for (; near != 0; near &= near - 1) {
        const int lane = lowest_bit(near);
        Walker walker{first + lane, {}};
        this->broadcast_box_of(lanes, fof.walkers.tree, {first, lane}, boxes, walker.box);
        link_walker(lanes, metric, walker, others);
      }
    }
  }

  /// Some particles of a leaf, of which a bit set says which may still find a friend in the other
  /// leaf.
  struct Side {
    static constexpr int max_size = 64;
    const LinkedTree<Real>& of;
    bool connected;
    LocalIndex first;
    int size;
    std::uint64_t open = 0;
    Lane first_x[3];  ///< of as many as there are lanes

    ZHALO_HD Side(const Lanes& lanes, const LinkedTree<Real>& tree, const Leaf& leaf,
                  LocalIndex from)
        : of(tree),
          connected(leaf.connected),
          first(from),
          size(leaf.end - from < max_size ? static_cast<int>(leaf.end - from) : max_size) {
      Base::load_particles(lanes, of.tree, first, first_x);
    }
    ZHALO_HD std::uint64_t open_lanes(int from) const {
      return (open >> from) & first_bits(Lanes::size);
    }
    /// Positions of the particles from `at` on, a multiple of the number of lanes.
    ZHALO_HD void load(const Lanes& lanes, int at, Lane (&x)[3]) const {
      for (int axis = 0; axis < 3; ++axis)
        x[axis] = at == 0 ? first_x[axis] : lanes.load(of.tree.pos.axis[axis] + first + at);
    }
  };

  /// A leaf that walks, with its first particles.
  struct WalkingLeaf {
    const Walker& walker;
    const Leaf& leaf;
    const Side& first;
  };

  /// Links a leaf with those of the tree that are near and not in one set with it.
  template <class Metric>
  ZHALO_HD void link_walker(const Lanes& lanes, const Metric& metric, const Walker& walker,
                            const LeafVector& others) const {
    std::uint64_t near =
        near_boxes(lanes, metric, walker.box, others.boxes) & first_bits(others.num);
    // Earlier leaves have met this one.
    if (fof.own_leaves_walk && others.first <= walker.leaf)
      near &= ~first_bits(walker.leaf + 1 - others.first);
    if (near == 0) return;
    const Leaf a = leaf_of(fof.walkers, walker.leaf);
    if (a.connected) {
      const LocalIndex set = set_of(fof.walkers, a.begin);
      near = lanes.filter(near, [&](int i) {
        if (lanes.of_own(others.connected, fof.connected + others.first, i) == 0) return true;
        const LocalIndex begin = lanes.of_own(others.begin, fof.tree.leaf_begin + others.first, i);
        return !fof.sets.is_below(fof.first_in_sets + begin, set);
      });
      if (near == 0) return;
    }
    const Side side(lanes, fof.walkers, a, a.begin);
    for (; near != 0; near &= near - 1)
      link_leaves(lanes, metric, {walker, a, side}, others, lowest_bit(near));
  }

  ZHALO_HD LocalIndex set_of(const LinkedTree<Real>& of, LocalIndex particle) const {
    return fof.sets.find(of.first_in_sets + particle);
  }

  template <class Metric>
  ZHALO_HD void link_leaves(const Lanes& lanes, const Metric& metric, const WalkingLeaf& walking,
                            const LeafVector& others, int lane) const {
    const Leaf& a = walking.leaf;
    const Leaf b = leaf_of(fof, others.first + lane);
    if (a.connected && b.connected &&
        lanes.any(set_of(fof.walkers, a.begin) == set_of(fof, b.begin)))
      return;
    Corners<Lanes> box;
    this->broadcast_box_of(lanes, fof.tree, {others.first, lane}, others.boxes, box);
    for (LocalIndex i = a.begin; i < a.end; i += Side::max_size) {
      const Side near_a = near_box(
          lanes, metric, i == a.begin ? walking.first : Side(lanes, fof.walkers, a, i), box);
      if (near_a.open == 0) continue;
      for (LocalIndex j = b.begin; j < b.end; j += Side::max_size) {
        Side one = near_a;
        Side other = near_box(lanes, metric, {lanes, fof, b, j}, walking.walker.box);
        if (other.open != 0 && link_sides(lanes, metric, one, other)) return;
      }
    }
  }

  /// The same side, open where a particle is within reach of the other leaf's box.
  template <class Metric>
  ZHALO_HD Side near_box(const Lanes& lanes, const Metric& metric, Side side,
                         const Corners<Lanes>& box) const {
    for (int at = 0; at < side.size; at += Lanes::size) {
      Lane x[3];
      side.load(lanes, at, x);
      const Corners<Lanes> point{{x[0], x[1], x[2]}, {x[0], x[1], x[2]}};
      const Lane gap2 = this->gap2(metric, box, point, lanes.broadcast(0));
      side.open |= lanes.ballot(gap2 <= lanes.broadcast(metric.reach2)) << at;
    }
    side.open &= first_bits(side.size);
    return side;
  }

  /// True if the leaves are in one set now and nothing is left to find. Of two vectors, particles
  /// of the one that has fewer are tested against the other.
  template <class Metric>
  ZHALO_HD bool link_sides(const Lanes& lanes, const Metric& metric, Side& a, Side& b) const {
    for (int i = 0; i < a.size; i += Lanes::size) {
      for (int j = 0; j < b.size; j += Lanes::size) {
        const int num_a = count_bits(a.open_lanes(i));
        const int num_b = count_bits(b.open_lanes(j));
        if (num_a == 0 || num_b == 0) continue;
        if (num_a <= num_b ? link_to_lanes(lanes, metric, {a, i}, {b, j})
                           : link_to_lanes(lanes, metric, {b, j}, {a, i}))
          return true;
      }
    }
    return false;
  }

  /// As many particles of a side as there are lanes.
  struct Part {
    Side& side;
    int at;

    ZHALO_HD LocalIndex particle(int lane) const {
      return side.first + static_cast<LocalIndex>(at + lane);
    }
  };

  /// Each of some particles, in turn, with all of the lanes'. True as for link_sides().
  template <class Metric>
  ZHALO_HD bool link_to_lanes(const Lanes& lanes, const Metric& metric, const Part& some,
                              const Part& vector) const {
    Side& side = vector.side;
    Lane x[3], some_x[3];
    side.load(lanes, vector.at, x);
    some.side.load(lanes, some.at, some_x);
    for (std::uint64_t left = some.side.open_lanes(some.at); left != 0; left &= left - 1) {
      const int at = lowest_bit(left);
      const LocalIndex i = some.particle(at);
      Lane xi[3];
      this->broadcast_particle_of(lanes, some.side.of.tree, {some.particle(0), at}, some_x, xi);
      const auto decide = [&](int lane) {
        return fof.are_friends(some.side.of, i, side.of, vector.particle(lane));
      };
      std::uint64_t hits = this->friends(lanes, metric, this->distance2(metric, xi, x),
                                         side.open_lanes(vector.at), decide);
      if (hits == 0) continue;
      // In a connected leaf one friend stands for all.
      if (some.side.connected) side.open &= ~(hits << vector.at);
      if (side.connected) {
        some.side.open &= ~(std::uint64_t{1} << (some.at + at));
        hits &= ~(hits - 1);
      }
      lanes.for_each_bit(hits, [&](int lane) {
        fof.sets.unite(some.side.of.first_in_sets + i,
                       side.of.first_in_sets + vector.particle(lane));
      });
      if (some.side.connected && side.connected) return true;
    }
    return false;
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
