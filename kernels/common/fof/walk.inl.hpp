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

  /// Which of the `fanout` nodes from `first` on (place in the boxes' arrays) are within reach of
  /// the box.
  template <class Metric>
  ZHALO_HD std::uint64_t near_nodes(const Lanes& lanes, const Metric& metric,
                                    const Corners<Lanes>& box, Index first) const {
    std::uint64_t near = 0;
    for (int j = 0; j < fof.tree.fanout; j += Lanes::size) {
      Corners<Lanes> other;
      this->load_boxes(lanes, fof.tree, first + j, other);
      const Lane r2 = this->gap2(metric, box, other, lanes.broadcast(0));
      std::uint64_t lane_bits = lanes.ballot(r2 <= lanes.broadcast(metric.reach2));
      if (Metric::periodic)
        lane_bits &=
            lanes.ballot(other.lo[0] <= other.hi[0]);  // an image of an empty box is not far
      near |= lane_bits << j;
    }
    return near & first_bits(fof.tree.fanout);
  }

  template <class Metric>
  ZHALO_HD void link_near(const Lanes& lanes, const Metric& metric, Walk& walk) const {
    Scratch& s = walk.scratch;
    lanes.sync();
    const Index end = walk.first_leaf + leaves_below(fof.walk_level);
    for (Index leaf = walk.first_leaf; leaf < end; ++leaf) {
      const Leaf a = leaf_of(fof.walkers, leaf);
      if (a.begin == a.end) continue;
      const Index later = fof.own_leaves_walk ? leaf + 1 : 0;  // the first leaf that this one meets
      Corners<Lanes> box;
      this->broadcast_box(lanes, fof.walkers.tree, leaf, box);
      for (int n = 0; n < walk.num_nodes; ++n) {
        const Index first = Index{s.nodes[n]} * fof.tree.fanout;
        if (first + fof.tree.fanout <= later) continue;
        std::uint64_t near = near_nodes(lanes, metric, box, first);
        if (first < later) near &= ~first_bits(later - first);
        for (; near != 0; near &= near - 1)
          link_leaves(lanes, metric, a, leaf_of(fof, first + lowest_bit(near)));
      }
    }
    lanes.sync();
  }

  ZHALO_HD LocalIndex set_of(const LinkedTree<Real>& of, LocalIndex particle) const {
    return fof.sets.find(of.first_in_sets + particle);
  }

  template <class Metric>
  ZHALO_HD void link_leaves(const Lanes& lanes, const Metric& metric, const Leaf& a,
                            const Leaf& b) const {
    if (a.connected && b.connected &&
        lanes.any(set_of(fof.walkers, a.begin) == set_of(fof, b.begin)))
      return;
    for (LocalIndex i = a.begin; i < a.end; i += Side::max_size) {
      const Side near_a = near_box(lanes, metric, {fof.walkers, a, i}, {fof, b.leaf});
      if (near_a.open == 0) continue;
      for (LocalIndex j = b.begin; j < b.end; j += Side::max_size) {
        Side one = near_a;
        Side other = near_box(lanes, metric, {fof, b, j}, {fof.walkers, a.leaf});
        if (other.open != 0 && link_sides(lanes, metric, one, other)) return;
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

    ZHALO_HD Side(const LinkedTree<Real>& tree, const Leaf& leaf, LocalIndex from)
        : of(tree),
          connected(leaf.connected),
          first(from),
          size(leaf.end - from < max_size ? static_cast<int>(leaf.end - from) : max_size) {}
    ZHALO_HD std::uint64_t open_lanes(int from) const {
      return (open >> from) & first_bits(Lanes::size);
    }
  };

  struct LeafOf {
    const LinkedTree<Real>& of;
    Index leaf;
  };

  /// The same side, open where a particle is within reach of the other leaf's box.
  template <class Metric>
  ZHALO_HD Side near_box(const Lanes& lanes, const Metric& metric, Side side,
                         const LeafOf& other) const {
    Corners<Lanes> box;
    this->broadcast_box(lanes, other.of.tree, other.leaf, box);
    for (int at = 0; at < side.size; at += Lanes::size) {
      Lane x[3];
      this->load_particles(lanes, side.of.tree, Index{side.first} + at, x);
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
    Lane x[3];
    this->load_particles(lanes, side.of.tree, vector.particle(0), x);
    for (std::uint64_t left = some.side.open_lanes(some.at); left != 0; left &= left - 1) {
      const int at = lowest_bit(left);
      const LocalIndex i = some.particle(at);
      Lane xi[3];
      this->broadcast_particle(lanes, some.side.of.tree, i, xi);
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
      lanes.one([&] {
        for (; hits != 0; hits &= hits - 1)
          fof.sets.unite(some.side.of.first_in_sets + i,
                         side.of.first_in_sets + vector.particle(lowest_bit(hits)));
      });
      if (some.side.connected && side.connected) return true;
    }
    return false;
  }
};

template <class E, class Real>
void link_between(const E& exec, const FofView<Real>& fof) {
  for_each_with_lanes(exec, fof.walkers.tree.level_size[fof.walk_level],
                      LinkBetween<LanesOf<Real>>{{fof}}, LanesOf<Real>{});
}

ZHALO_INSTANTIATE_LANES(link_between);

}  // namespace ZHALO_LANES_NAMESPACE
ZHALO_LANES_END
