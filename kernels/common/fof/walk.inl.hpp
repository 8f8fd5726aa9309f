// Linking leaves with each other, for any Lanes. No include guard: compiled once for each kind
// of Lanes.

ZHALO_LANES_BEGIN
namespace ZHALO_LANES_NAMESPACE {

/// Memory of one group: the walk's stack, nodes of level 1 that are near, and a tile of particles
/// that passed the filter.
template <class Real>
struct LinkScratch {
  static constexpr int max_stack = 384;
  static constexpr int max_nodes = 256;
  static constexpr int tile = 64;
  static constexpr int slack = 64;  ///< a compressed store may write a whole vector

  std::uint32_t stack[max_stack];
  LocalIndex nodes[max_nodes];
  Real pos[3][tile + slack];
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
  using Scratch = LinkScratch<Real>;

  ZHALO_HD void operator()(const Lanes& g, Index item, Scratch& s) const {
    const Index node = fof.walkers.tree.level_first[fof.walk_level] + item;
    Real lo[3], hi[3];
    for (int axis = 0; axis < 3; ++axis) {
      lo[axis] = fof.walkers.tree.boxes.lo[axis][node];
      hi[axis] = fof.walkers.tree.boxes.hi[axis][node];
    }
    if (!(lo[0] <= hi[0])) return;
    if (this->near_edge(lo, hi)) {
      start(g, PeriodicMetric<Lanes>(g, fof), item, s);
    } else {
      start(g, OpenMetric<Lanes>(g, fof), item, s);
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
  ZHALO_HD void start(const Lanes& g, const Metric& metric, Index item, Scratch& s) const {
    Walk walk{item, item * leaves_below(fof.walk_level), s};
    if (fof.tree.num_levels == 1) {
      g.one([&] { s.nodes[0] = 0; });
      walk.num_nodes = 1;
    } else {
      // The top level is one node's worth of children: it is expanded as if a node 0 lay above.
      this->push(g, walk, fof.tree.num_levels, 0);
    }
    // One place links, so that the text of linking is compiled in once.
    while (true) {
      if (walk.height == 0 || walk.num_nodes + fof.tree.fanout > Scratch::max_nodes) {
        link_near(g, metric, walk);
        if (walk.height == 0) return;
        walk.num_nodes = 0;
      }
      expand(g, metric, this->pop(g, walk, fof.tree), walk);
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
  ZHALO_HD void expand(const Lanes& g, const Metric& metric, const Siblings& siblings,
                       Walk& walk) const {
    Corners<Lanes> box;  // loaded again each time: on a device, registers are dearer
    this->broadcast_box(g, fof.walkers.tree,
                        fof.walkers.tree.level_first[fof.walk_level] + walk.item, box);
    // Nodes before it hold earlier leaves only.
    const Index lowest = fof.own_leaves_walk ? walk.first_leaf / leaves_below(siblings.level) : 0;
    std::uint64_t near =
        near_nodes(g, metric, box, fof.tree.level_first[siblings.level] + siblings.first);
    if (lowest > siblings.first) near &= ~first_bits(lowest - siblings.first);
    for (; near != 0; near &= near - 1) {
      const Index node = siblings.first + lowest_bit(near);
      if (siblings.level > 1) {
        this->push(g, walk, siblings.level, node);
      } else {
        g.one([&] { walk.scratch.nodes[walk.num_nodes] = static_cast<LocalIndex>(node); });
        ++walk.num_nodes;
      }
    }
  }

  /// Which of the `fanout` nodes from `first` on (place in the boxes' arrays) are within reach of
  /// the box.
  template <class Metric>
  ZHALO_HD std::uint64_t near_nodes(const Lanes& g, const Metric& metric, const Corners<Lanes>& box,
                                    Index first) const {
    std::uint64_t near = 0;
    for (int j = 0; j < fof.tree.fanout; j += Lanes::size) {
      Corners<Lanes> other;
      this->load_boxes(g, fof.tree, first + j, other);
      const Lane r2 = this->gap2(metric, box, other, g.broadcast(0));
      std::uint64_t lanes = g.ballot(r2 <= g.broadcast(metric.reach2));
      if (Metric::periodic)
        lanes &= g.ballot(other.lo[0] <= other.hi[0]);  // an image of an empty box is not far
      near |= lanes << j;
    }
    return near & first_bits(fof.tree.fanout);
  }

  template <class Metric>
  ZHALO_HD void link_near(const Lanes& g, const Metric& metric, Walk& walk) const {
    Scratch& s = walk.scratch;
    g.sync();
    const Index end = walk.first_leaf + leaves_below(fof.walk_level);
    for (Index leaf = walk.first_leaf; leaf < end; ++leaf) {
      const Leaf a = leaf_of(fof.walkers, leaf);
      if (a.begin == a.end) continue;
      const Index later = fof.own_leaves_walk ? leaf + 1 : 0;  // the first leaf that this one meets
      Corners<Lanes> box;
      this->broadcast_box(g, fof.walkers.tree, leaf, box);
      for (int n = 0; n < walk.num_nodes; ++n) {
        const Index first = Index{s.nodes[n]} * fof.tree.fanout;
        if (first + fof.tree.fanout <= later) continue;
        std::uint64_t near = near_nodes(g, metric, box, first);
        if (first < later) near &= ~first_bits(later - first);
        for (; near != 0; near &= near - 1)
          link_leaves(g, metric, a, leaf_of(fof, first + lowest_bit(near)), s);
      }
    }
    g.sync();
  }

  ZHALO_HD LocalIndex set_of(const LinkedTree<Real>& of, LocalIndex particle) const {
    return fof.sets.find(of.first_in_sets + particle);
  }

  template <class Metric>
  ZHALO_HD void link_leaves(const Lanes& g, const Metric& metric, const Leaf& a, const Leaf& b,
                            Scratch& s) const {
    if (a.connected && b.connected && g.any(set_of(fof.walkers, a.begin) == set_of(fof, b.begin)))
      return;
    for (LocalIndex i = a.begin; i < a.end; i += Scratch::tile) {
      const std::uint64_t near_a = near_box(g, metric, b.leaf, {i, a.end});
      if (near_a == 0) continue;
      for (LocalIndex j = b.begin; j < b.end; j += Scratch::tile) {
        const std::uint64_t near_b = filter(g, metric, a.leaf, {j, b.end}, s);
        if (near_b != 0 &&
            link_tiles(g, metric, {s, a.connected, b.connected, i, j, near_a, near_b}))
          return;
      }
    }
  }

  /// Up to a tile of particles.
  struct Run {
    LocalIndex first;
    LocalIndex end;

    ZHALO_HD int size() const {
      return end - first < Scratch::tile ? static_cast<int>(end - first) : Scratch::tile;
    }
  };

  /// Lanes whose particle is within reach of the box.
  template <class Metric>
  ZHALO_HD std::uint64_t near_lanes(const Lanes& g, const Metric& metric, const Corners<Lanes>& box,
                                    const Lane (&x)[3]) const {
    const Corners<Lanes> point{{x[0], x[1], x[2]}, {x[0], x[1], x[2]}};
    return g.ballot(this->gap2(metric, box, point, g.broadcast(0)) <= g.broadcast(metric.reach2));
  }

  /// Which of a run of walkers are within reach of a leaf's box.
  template <class Metric>
  ZHALO_HD std::uint64_t near_box(const Lanes& g, const Metric& metric, Index leaf,
                                  const Run& run) const {
    Corners<Lanes> box;
    this->broadcast_box(g, fof.tree, leaf, box);
    std::uint64_t near = 0;
    for (int at = 0; at < run.size(); at += Lanes::size) {
      Lane x[3];
      this->load_particles(g, fof.walkers.tree, Index{run.first} + at, x);
      near |= near_lanes(g, metric, box, x) << at;
    }
    return near & first_bits(run.size());
  }

  /// Which of a run of the tree's particles are within reach of a walker's box; puts them into the
  /// tile, one behind the other.
  template <class Metric>
  ZHALO_HD std::uint64_t filter(const Lanes& g, const Metric& metric, Index leaf, const Run& run,
                                Scratch& s) const {
    Corners<Lanes> box;
    this->broadcast_box(g, fof.walkers.tree, leaf, box);
    std::uint64_t near = 0;
    g.sync();  // the tile may still be read
    for (int at = 0; at < run.size(); at += Lanes::size) {
      Lane x[3];
      this->load_particles(g, fof.tree, Index{run.first} + at, x);
      const std::uint64_t lanes = near_lanes(g, metric, box, x) & first_bits(run.size() - at);
      const int count = count_bits(near);
      for (int axis = 0; axis < 3; ++axis) g.compress(lanes, x[axis], s.pos[axis] + count);
      near |= lanes << at;
    }
    g.sync();
    return near;
  }

  /// Particles of leaf a, by a bit set, against those of leaf b that are in the tile.
  struct TilePair {
    const Scratch& tile;
    bool a_connected;
    bool b_connected;
    LocalIndex first_a;
    LocalIndex first_b;
    std::uint64_t near_a;
    std::uint64_t near_b;

    /// Place of the particle that was put into the tile as number t.
    ZHALO_HD LocalIndex index_b(int t) const {
      std::uint64_t bits = near_b;
      for (; t > 0; --t) bits &= bits - 1;
      return first_b + static_cast<LocalIndex>(lowest_bit(bits));
    }
  };

  /// True if the leaves are in one set now and nothing is left to find.
  template <class Metric>
  ZHALO_HD bool link_tiles(const Lanes& g, const Metric& metric, const TilePair& pair) const {
    std::uint64_t open = first_bits(
        count_bits(pair.near_b));  // particles of the tile that may still find something new
    for (std::uint64_t near = pair.near_a; near != 0; near &= near - 1) {
      const LocalIndex i = pair.first_a + static_cast<LocalIndex>(lowest_bit(near));
      std::uint64_t hits = friends_in_tile(g, metric, i, open, pair);
      if (hits == 0) continue;
      // In a connected leaf one friend stands for all.
      if (pair.a_connected) open &= ~hits;
      if (pair.b_connected) hits &= ~(hits - 1);
      g.one([&] {
        for (; hits != 0; hits &= hits - 1)
          fof.sets.unite(fof.walkers.first_in_sets + i,
                         fof.first_in_sets + pair.index_b(lowest_bit(hits)));
      });
      if (pair.a_connected && pair.b_connected) return true;
    }
    return false;
  }

  template <class Metric>
  ZHALO_HD std::uint64_t friends_in_tile(const Lanes& g, const Metric& metric, Index i,
                                         std::uint64_t open, const TilePair& pair) const {
    const auto& pos = pair.tile.pos;
    Lane xi[3];
    this->broadcast_particle(g, fof.walkers.tree, i, xi);
    std::uint64_t found = 0;
    for (int j = 0; j < Scratch::tile && open >> j != 0; j += Lanes::size) {
      const Lane xj[3] = {g.load(pos[0] + j), g.load(pos[1] + j), g.load(pos[2] + j)};
      const std::uint64_t lanes = (open >> j) & first_bits(Lanes::size);
      const auto decide = [&](int lane) {
        return fof.are_friends(fof.walkers, i, pair.index_b(j + lane));
      };
      found |= this->friends(g, metric, this->distance2(metric, xi, xj), lanes, decide) << j;
    }
    return found;
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
