// Linking leaves with each other on a host, in stages. No include guard: compiled once for each
// vector target.
//
// The common text (kernels/common/fof/walk.inl.hpp) finishes one pair of leaves before the next. On
// a host most of its time goes into wrong guesses of branches. Here each stage is a loop over a
// list that writes the next list. What is not near is written, too, but the list does not grow. So
// there is next to nothing to guess. The sets are the same.

HWY_BEFORE_NAMESPACE();
namespace zhalo::kernels::HWY_NAMESPACE {

/// A list that a stage fills. Its room is bounded.
template <class T>
struct StageList {
  static constexpr int room = 512;

  T entries[room + 1];  // what is not wanted is written, too
  int num = 0;

  /// Writes in any case: that costs less than a branch.
  void add_if(bool wanted, const T& entry) {
    ZHALO_EXPECT(num <= room);
    entries[num] = entry;
    num += wanted ? 1 : 0;
  }
  bool has_room(int more) const { return num + more <= room; }
};

struct PairOfLeaves {
  LocalIndex walking;
  LocalIndex met;
};

/// Some particles of the leaf that walks, from `first` on, near the leaf that it meets.
struct NearOtherLeaf {
  PairOfLeaves leaves;
  LocalIndex first;
  std::uint32_t bits;
};

/// The same, with those of the leaf that it meets.
struct NearEachOther {
  PairOfLeaves leaves;
  LocalIndex first[2];
  std::uint32_t bits[2];
};

/// A particle and its friends among some, as elements of the sets.
struct FriendsOfOne {
  LocalIndex one;
  LocalIndex first;
  std::uint32_t bits;
};

template <class Lanes>
struct StagedScratch {
  static constexpr int max_stack = 384;
  static constexpr int max_nodes = 256;

  std::uint32_t stack[max_stack];
  LocalIndex nodes[max_nodes];
  NearList<Lanes> near_nodes;
  NearList<Lanes> near_leaves;
  StageList<PairOfLeaves> connected_pairs;
  StageList<PairOfLeaves> pairs;
  StageList<NearOtherLeaf> near_particles;
  StageList<NearEachOther> near_each_other;
  StageList<FriendsOfOne> friends;
};

/// As LinkBetween.
template <class Lanes>
struct StagedLink : FindNearLeaves<Lanes, StagedScratch<Lanes>> {
  using Base = FindNearLeaves<Lanes, StagedScratch<Lanes>>;
  using Base::fof;
  using typename Base::Lane;
  using typename Base::Leaf;
  using typename Base::Real;
  using typename Base::Scratch;
  using typename Base::Walk;
  static constexpr int max_vectors = max_leaf_size / Lanes::size;

  bool one_thread = false;

  void operator()(const Lanes& lanes, Index item, Scratch& s) const {
    this->walk_from(lanes, item, s, [&](const auto& metric, Walk& walk) {
      if (fof.own_leaves_walk && fof.walk_level == 1) drop_linked_clumps(walk);
      link_near(lanes, metric, walk);
    });
  }

 private:
  /// Near an edge, too, most nodes are on the same side of it as the walking leaves.
  template <class Metric>
  void link_near(const Lanes& lanes, const Metric& metric, Walk& walk) const {
    LocalIndex* const end = walk.scratch.nodes + walk.num_nodes;
    LocalIndex* wrapped = walk.scratch.nodes;
    if constexpr (Metric::periodic) {
      if (fof.tree.num_levels > 1) {
        wrapped = std::partition(wrapped, end,
                                 [&](LocalIndex node) { return !is_across_edge(walk, node); });
        link_nodes(lanes, OpenMetric<Lanes>(lanes, fof), walk,
                   {walk.scratch.nodes, wrapped - walk.scratch.nodes});
      }
    }
    link_nodes(lanes, metric, walk, {wrapped, end - wrapped});
  }

  /// All leaves of a node that is a clump are in one set at the end. So two such nodes need no more
  /// than one set, and without this many leaves within the linking length would cost a look at each
  /// pair.
  void drop_linked_clumps(Walk& walk) const {
    const auto walking = static_cast<LocalIndex>(walk.item);
    if (!is_node_clump(walking)) return;
    const LocalIndex set = set_of_node(walking);
    LocalIndex* const nodes = walk.scratch.nodes;
    const auto* const end = std::remove_if(nodes, nodes + walk.num_nodes, [&](LocalIndex node) {
      return node != walking && is_node_clump(node) && set_of_node(node) == set;
    });
    walk.num_nodes = static_cast<int>(end - nodes);
  }

  /// Of a node of level 1.
  bool is_node_clump(LocalIndex node) const {
    const Index at = fof.tree.level_first[1] + Index{node};
    Real lo[3], hi[3];
    for (int axis = 0; axis < 3; ++axis) {
      lo[axis] = fof.tree.boxes.lo[axis][at];
      hi[axis] = fof.tree.boxes.hi[axis][at];
    }
    return this->is_clump(lo, hi);
  }
  /// Of its first particle.
  LocalIndex set_of_node(LocalIndex node) const {
    return fof.sets.find(fof.first_in_sets + fof.tree.leaf_begin[Index{node} * fof.tree.fanout]);
  }

  /// Whether points of the walking leaves may have friends in images of a node of level 1.
  bool is_across_edge(const Walk& walk, LocalIndex node) const {
    const Index met = fof.tree.level_first[1] + Index{node};
    const Index walking = fof.walkers.tree.level_first[fof.walk_level] + walk.item;
    Real lo[3], hi[3];
    for (int axis = 0; axis < 3; ++axis) {
      lo[axis] = std::min(fof.tree.boxes.lo[axis][met], fof.walkers.tree.boxes.lo[axis][walking]);
      hi[axis] = std::max(fof.tree.boxes.hi[axis][met], fof.walkers.tree.boxes.hi[axis][walking]);
    }
    return this->spans_edges(lo, hi);
  }

  /// Some nodes at a time, and for these the walking leaves one after the other: what is read for
  /// one is still in the cache for the next.
  template <class Metric>
  void link_nodes(const Lanes& lanes, const Metric& metric, const Walk& walk,
                  Span<const LocalIndex> nodes) const {
    Scratch& s = walk.scratch;
    for (Index first = 0; first < nodes.size(); first += Lanes::size) {
      const auto some = nodes.subspan(first, std::min<Index>(Lanes::size, nodes.size() - first));
      this->find_near_nodes(lanes, metric, walk, some);
      for (int i = 0; i < s.near_nodes.num; ++i) {
        if (!s.near_leaves.has_room(fof.tree.fanout)) link_near_leaves(lanes, metric, s);
        this->find_near_leaves(lanes, metric, s.near_nodes.walking[i], some[s.near_nodes.near[i]],
                               s.near_leaves);
      }
    }
    link_near_leaves(lanes, metric, s);
  }

  /// Of a leaf's first particle.
  const LocalIndex& parent(const LinkedTree<Real>& of, Index leaf) const {
    return fof.sets.parent[of.first_in_sets + of.tree.leaf_begin[leaf]];
  }

  // -------------------------------------------------------------- stages

  /// Without those that are seen to be in one set. The first particles of each leaf that is met are
  /// asked for.
  template <class Metric>
  void link_near_leaves(const Lanes& lanes, const Metric& metric, Scratch& s) const {
    constexpr int ahead = 8;
    for (int i = 0; i < s.near_leaves.num; ++i) {
      if (i + ahead < s.near_leaves.num) prefetch_line(&parent(fof, s.near_leaves.near[i + ahead]));
      const PairOfLeaves pair{s.near_leaves.walking[i], s.near_leaves.near[i]};
      const bool connected = (fof.walkers.connected[pair.walking] & fof.connected[pair.met]) != 0;
      const bool in_one_set =
          atomic_load(parent(fof.walkers, pair.walking)) == atomic_load(parent(fof, pair.met));
      for (const Real* const axis : fof.tree.pos.axis) {
        const Real* const x = axis + fof.tree.leaf_begin[pair.met];
        prefetch_from_to(x, x + Lanes::size);
      }
      s.connected_pairs.add_if(connected & !in_one_set, pair);
      s.pairs.add_if(!connected, pair);
    }
    s.near_leaves.num = 0;
    link_pairs(lanes, metric, s);
  }

  /// Where both leaves are connected, a pair of friends makes all others needless, also those of
  /// other leaves in the list.
  template <class Metric>
  void link_pairs(const Lanes& lanes, const Metric& metric, Scratch& s) const {
    for (int i = 0; i < s.connected_pairs.num; ++i)
      link_at_once(lanes, metric, s.connected_pairs.entries[i]);
    s.connected_pairs.num = 0;
    for (int i = 0; i < s.pairs.num; ++i) {
      const PairOfLeaves pair = s.pairs.entries[i];
      if (is_large(fof.walkers, pair.walking) || is_large(fof, pair.met)) [[unlikely]] {
        link_at_once(lanes, metric, pair);
        continue;
      }
      if (!s.near_particles.has_room(max_vectors)) link_near_particles(lanes, metric, s);
      find_near_particles(lanes, metric, pair, s.near_particles);
    }
    s.pairs.num = 0;
    link_near_particles(lanes, metric, s);
  }

  /// Many particles at one point, or nearly.
  static bool is_large(const LinkedTree<Real>& of, Index leaf) {
    return of.tree.leaf_end[leaf] - of.tree.leaf_begin[leaf] > max_leaf_size;
  }

  template <class Metric>
  void link_at_once(const Lanes& lanes, const Metric& metric, const PairOfLeaves& pair) const {
    const Leaf a = this->leaf_of(fof.walkers, pair.walking);
    const Leaf b = this->leaf_of(fof, pair.met);
    Lane first_x[3];
    this->load_particles(lanes, fof.walkers.tree, a.begin, first_x);
    Corners<Lanes> box_of_a, box_of_b;
    this->broadcast_box(lanes, fof.walkers.tree, pair.walking, box_of_a);
    this->broadcast_box(lanes, fof.tree, pair.met, box_of_b);
    this->link_leaves(
        lanes, metric, {a, first_x, b}, [&] { return box_of_a; }, [&] { return box_of_b; });
  }

  /// Which of the particles from `first` on, as many as there are lanes, are near a box.
  template <class Metric>
  ZHALO_LANES_INLINE std::uint32_t near_box_bits(const Lanes& lanes, const Metric& metric,
                                                 const TreeView<Real>& particles, LocalIndex first,
                                                 const Corners<Lanes>& box) const {
    Corners<Lanes> point;
    this->load_particles(lanes, particles, first, point.lo);
    for (int axis = 0; axis < 3; ++axis) point.hi[axis] = point.lo[axis];
    const Lane gap2 = this->gap2(metric, box, point, lanes.broadcast(0));
    return static_cast<std::uint32_t>(lanes.ballot(gap2 <= lanes.broadcast(metric.reach2)));
  }

  template <class Metric>
  void find_near_particles(const Lanes& lanes, const Metric& metric, const PairOfLeaves& pair,
                           StageList<NearOtherLeaf>& found) const {
    const TreeView<Real>& tree = fof.walkers.tree;
    Corners<Lanes> box;
    this->broadcast_box(lanes, fof.tree, pair.met, box);
    const LocalIndex end = tree.leaf_end[pair.walking];
    for (LocalIndex i = tree.leaf_begin[pair.walking]; i < end; i += Lanes::size) {
      const std::uint32_t bits = near_box_bits(lanes, metric, tree, i, box) &
                                 static_cast<std::uint32_t>(first_bits(Index{end} - i));
      found.add_if(bits != 0, {pair, i, bits});
    }
  }

  template <class Metric>
  void link_near_particles(const Lanes& lanes, const Metric& metric, Scratch& s) const {
    for (int i = 0; i < s.near_particles.num; ++i) {
      if (!s.near_each_other.has_room(max_vectors)) link_near_each_other(lanes, metric, s);
      find_near_each_other(lanes, metric, s.near_particles.entries[i], s.near_each_other);
    }
    s.near_particles.num = 0;
    link_near_each_other(lanes, metric, s);
  }

  template <class Metric>
  void find_near_each_other(const Lanes& lanes, const Metric& metric, const NearOtherLeaf& near,
                            StageList<NearEachOther>& found) const {
    Corners<Lanes> box;
    this->broadcast_box(lanes, fof.walkers.tree, near.leaves.walking, box);
    const LocalIndex end = fof.tree.leaf_end[near.leaves.met];
    for (LocalIndex j = fof.tree.leaf_begin[near.leaves.met]; j < end; j += Lanes::size) {
      const std::uint32_t bits = near_box_bits(lanes, metric, fof.tree, j, box) &
                                 static_cast<std::uint32_t>(first_bits(Index{end} - j));
      found.add_if(bits != 0, {near.leaves, {near.first, j}, {near.bits, bits}});
    }
  }

  template <class Metric>
  void link_near_each_other(const Lanes& lanes, const Metric& metric, Scratch& s) const {
    for (int i = 0; i < s.near_each_other.num; ++i) {
      if (!s.friends.has_room(Lanes::size)) unite_friends(s.friends);
      find_friends(lanes, metric, s.near_each_other.entries[i], s.friends);
    }
    s.near_each_other.num = 0;
    unite_friends(s.friends);
  }

  /// Some particles of a leaf.
  struct Some {
    const LinkedTree<Real>* of;
    LocalIndex first;
    std::uint32_t bits;
    bool connected;
  };

  /// Of two vectors, particles of the one that has fewer are tested against the other. In a
  /// connected leaf one friend stands for all.
  template <class Metric>
  void find_friends(const Lanes& lanes, const Metric& metric, const NearEachOther& near,
                    StageList<FriendsOfOne>& found) const {
    const LinkedTree<Real>& walkers = fof.walkers;
    Some a{&walkers, near.first[0], near.bits[0], walkers.connected[near.leaves.walking] != 0};
    Some b{&fof, near.first[1], near.bits[1], fof.connected[near.leaves.met] != 0};
    if (count_bits(a.bits) > count_bits(b.bits)) std::swap(a, b);
    Lane x[3];
    this->load_particles(lanes, b.of->tree, b.first, x);
    for (std::uint64_t left = a.bits; left != 0; left &= left - 1) {
      const LocalIndex i = a.first + static_cast<LocalIndex>(lowest_bit(left));
      std::uint64_t hits = friends_of(lanes, metric, a, i, {b, x});
      if (b.connected) hits &= ~(hits - 1);
      found.add_if(hits != 0, {a.of->first_in_sets + i, b.of->first_in_sets + b.first,
                               static_cast<std::uint32_t>(hits)});
    }
  }

  struct LoadedSome {
    const Some& some;
    const Lane (&x)[3];
  };

  template <class Metric>
  ZHALO_LANES_INLINE std::uint64_t friends_of(const Lanes& lanes, const Metric& metric,
                                              const Some& a, LocalIndex i,
                                              const LoadedSome& b) const {
    Lane xi[3];
    this->broadcast_particle(lanes, a.of->tree, i, xi);
    const Lane r2 = this->distance2(metric, xi, b.x);
    const std::uint64_t hits = lanes.ballot(r2 <= lanes.broadcast(metric.reach2)) & b.some.bits;
    const std::uint64_t certain = lanes.ballot(r2 <= lanes.broadcast(metric.within2)) & hits;
    if (hits == certain) [[likely]]
      return hits;
    return certain | decided(a, i, b.some, hits & ~certain);
  }

  /// Those of the doubtful pairs that are friends.
  std::uint64_t decided(const Some& a, LocalIndex i, const Some& b, std::uint64_t doubtful) const {
    std::uint64_t hits = 0;
    for (; doubtful != 0; doubtful &= doubtful - 1) {
      const int lane = lowest_bit(doubtful);
      const bool found = fof.are_friends(*a.of, i, *b.of, Index{b.first} + lane);
      hits |= std::uint64_t{found} << lane;
    }
    return hits;
  }

  void unite_friends(StageList<FriendsOfOne>& friends) const {
    for (int i = 0; i < friends.num; ++i) unite(friends.entries[i]);
    friends.num = 0;
  }

  void unite(const FriendsOfOne& friends) const {
    const LocalIndex* const parent = fof.sets.parent.data();
    for (std::uint64_t left = friends.bits; left != 0; left &= left - 1) {
      const LocalIndex other = friends.first + static_cast<LocalIndex>(lowest_bit(left));
      // Most friends are in one set already, right below its root.
      if (atomic_load(parent[friends.one]) == atomic_load(parent[other])) continue;
      if (one_thread) {
        fof.sets.unite_alone(friends.one, other);
      } else {
        fof.sets.unite(friends.one, other);
      }
    }
  }
};

template <class Real>
void link_between_in_stages(const Host& exec, const FofView<Real>& fof) {
  const TreeView<Real>& walkers = fof.walkers.tree;
  StagedLink<LanesOf<Real>> link{{{{{fof}}}}, has_one_thread(exec)};
  link.fof.walk_level = walkers.num_levels > 1 ? 1 : 0;
  for_each_with_lanes(exec, walkers.level_size[link.fof.walk_level], link, LanesOf<Real>{});
}

}  // namespace zhalo::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
