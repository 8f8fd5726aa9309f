// Linking friends: inside leaves, then between leaves, for any Group. No include guard: compiled once per GROUP_TARGET.

ZHALO_GROUP_BEGIN
namespace zhalo::kernels::ZHALO_GROUP_TARGET {

/// Distances where no image is nearer.
template <class Group>
struct OpenMetric {
  using Lane = typename Group::Lane;
  static constexpr bool periodic = false;

  ZHALO_HD OpenMetric(const Group&, const FofView<typename Group::real>& fof)
      : within2(fof.open.within2), reach2(fof.open.reach2) {}

  ZHALO_HD Lane difference(int, Lane a, Lane b) const { return Group::abs(a - b); }
  /// Distance between the intervals [alo, ahi] and [blo, bhi]; negative where they overlap.
  ZHALO_HD Lane gap(int, Lane alo, Lane ahi, Lane blo, Lane bhi) const { return Group::max(blo - ahi, alo - bhi); }

  typename Group::real within2;
  typename Group::real reach2;
};

/// Distances to the nearest periodic image. An axis without periodicity has an infinite period.
template <class Group>
struct PeriodicMetric {
  using Lane = typename Group::Lane;
  static constexpr bool periodic = true;

  ZHALO_HD PeriodicMetric(const Group& g, const FofView<typename Group::real>& fof)
      : within2(fof.wrapped.within2),
        reach2(fof.wrapped.reach2),
        period{g.broadcast(fof.period[0]), g.broadcast(fof.period[1]), g.broadcast(fof.period[2])} {}

  ZHALO_HD Lane difference(int axis, Lane a, Lane b) const {
    const Lane direct = Group::abs(a - b);
    return Group::min(direct, period[axis] - direct);
  }
  ZHALO_HD Lane gap(int axis, Lane alo, Lane ahi, Lane blo, Lane bhi) const {
    const Lane direct = Group::max(blo - ahi, alo - bhi);
    return Group::min(direct, period[axis] - (Group::max(ahi, bhi) - Group::min(alo, blo)));
  }

  typename Group::real within2;
  typename Group::real reach2;
  Lane period[3];
};

template <class Group>
struct Corners {
  typename Group::Lane lo[3];
  typename Group::Lane hi[3];
};

template <class Group>
struct FofGroup {
  using Real = typename Group::real;
  using Lane = typename Group::Lane;
  FofView<Real> fof;

  template <class Metric>
  ZHALO_HD Lane distance2(const Metric& metric, const Lane (&a)[3], const Lane (&b)[3]) const {
    const Lane x = metric.difference(0, a[0], b[0]);
    const Lane y = metric.difference(1, a[1], b[1]);
    const Lane z = metric.difference(2, a[2], b[2]);
    return Group::fma(z, z, Group::fma(y, y, x * x));
  }

  /// Squared distance between boxes; never more, in floating point, than that of any two points in them, because every
  /// step is monotone under rounding and is the same as in distance2.
  template <class Metric>
  ZHALO_HD Lane gap2(const Metric& metric, const Corners<Group>& a, const Corners<Group>& b, Lane zero) const {
    const Lane x = Group::max(metric.gap(0, a.lo[0], a.hi[0], b.lo[0], b.hi[0]), zero);
    const Lane y = Group::max(metric.gap(1, a.lo[1], a.hi[1], b.lo[1], b.hi[1]), zero);
    const Lane z = Group::max(metric.gap(2, a.lo[2], a.hi[2], b.lo[2], b.hi[2]), zero);
    return Group::fma(z, z, Group::fma(y, y, x * x));
  }

  using Tree = TreeView<Real>;

  ZHALO_HD static void load_particles(const Group& g, const Tree& tree, Index first, Lane (&x)[3]) {
    for (int axis = 0; axis < 3; ++axis) x[axis] = g.load(tree.pos.axis[axis] + first);
  }
  ZHALO_HD static void broadcast_particle(const Group& g, const Tree& tree, Index i, Lane (&x)[3]) {
    for (int axis = 0; axis < 3; ++axis) x[axis] = g.broadcast(tree.pos.axis[axis][i]);
  }
  ZHALO_HD static void load_boxes(const Group& g, const Tree& tree, Index node, Corners<Group>& c) {
    for (int axis = 0; axis < 3; ++axis) {
      c.lo[axis] = g.load(tree.boxes.lo[axis] + node);
      c.hi[axis] = g.load(tree.boxes.hi[axis] + node);
    }
  }
  ZHALO_HD static void broadcast_box(const Group& g, const Tree& tree, Index node, Corners<Group>& c) {
    for (int axis = 0; axis < 3; ++axis) {
      c.lo[axis] = g.broadcast(tree.boxes.lo[axis][node]);
      c.hi[axis] = g.broadcast(tree.boxes.hi[axis][node]);
    }
  }

  /// Whether points of the box may have friends across a periodic edge.
  ZHALO_HD bool near_edge(const Real (&lo)[3], const Real (&hi)[3]) const {
    bool near = false;
    for (int axis = 0; axis < 3; ++axis) near = near || lo[axis] < fof.inner_lo[axis] || hi[axis] > fof.inner_hi[axis];
    return near;
  }

  /// Those of `lanes` whose pair, at squared distance r2, are friends. Inside the error band decide(lane) says it, in double.
  template <class Metric, class Decide>
  ZHALO_HD std::uint64_t friends(const Group& g, const Metric& metric, Lane r2, std::uint64_t lanes, Decide decide) const {
    std::uint64_t hits = g.ballot(r2 <= g.broadcast(metric.reach2)) & lanes;
    if (hits == 0) return 0;
    std::uint64_t doubtful = hits & ~g.ballot(r2 <= g.broadcast(metric.within2));
    for (; doubtful != 0; doubtful &= doubtful - 1) {
      const int lane = lowest_bit(doubtful);
      if (!decide(lane)) hits &= ~(std::uint64_t{1} << lane);
    }
    return hits;
  }
};

/// Links the particles inside one leaf and makes its entries of the parent array.
template <class Group>
struct LinkInside : FofGroup<Group> {
  using Base = FofGroup<Group>;
  using Base::fof;
  using typename Base::Lane;
  using typename Base::Real;

  struct Scratch {};

  ZHALO_HD void operator()(const Group& g, Index slot, Scratch&) const {
    const LocalIndex begin = fof.tree.leaf_begin[slot];
    const Index num = fof.tree.leaf_end[slot] - begin;
    if (num == 0) return;
    Real lo[3], hi[3];
    for (int axis = 0; axis < 3; ++axis) {
      lo[axis] = fof.tree.boxes.lo[axis][slot];
      hi[axis] = fof.tree.boxes.hi[axis][slot];
    }
    bool connected = true;
    if (is_clump(lo, hi) || num > max_leaf_size) {
      const LocalIndex first = fof.first_in_sets + begin;
      g.for_each_lane(num, [&](Index i) { fof.sets.parent[first + i] = first; });
    } else if (this->near_edge(lo, hi)) {
      connected = flood(g, PeriodicMetric<Group>(g, fof), begin, num);
    } else {
      connected = flood(g, OpenMetric<Group>(g, fof), begin, num);
    }
    g.one([&] { fof.connected[slot] = connected ? 1 : 0; });
  }

 private:
  /// Any two points of the box are friends.
  ZHALO_HD bool is_clump(const Real (&lo)[3], const Real (&hi)[3]) const {
    const Real x = hi[0] - lo[0];
    const Real y = hi[1] - lo[1];
    const Real z = hi[2] - lo[2];
    return fused(z, z, fused(y, y, x * x)) <= fof.open.within2;
  }

  /// Finds the components by flood fill over bit sets; true if there is one.
  template <class Metric>
  ZHALO_HD bool flood(const Group& g, const Metric& metric, LocalIndex begin, Index num) const {
    std::uint64_t left = first_bits(num);
    bool one_component = true;
    while (left != 0) {
      const int seed = lowest_bit(left);
      std::uint64_t frontier = std::uint64_t{1} << seed;
      std::uint64_t component = frontier;
      left &= ~frontier;
      while (frontier != 0 && left != 0) {
        const int i = lowest_bit(frontier);
        frontier &= frontier - 1;
        const std::uint64_t found = friends_in_leaf(g, metric, begin, begin + static_cast<LocalIndex>(i), left);
        left &= ~found;
        component |= found;
        frontier |= found;
      }
      one_component = one_component && component == first_bits(num);
      const LocalIndex first = fof.first_in_sets + begin;
      const LocalIndex root = first + static_cast<LocalIndex>(seed);
      g.one([&] {
        for (std::uint64_t bits = component; bits != 0; bits &= bits - 1)
          fof.sets.parent[Index{first} + lowest_bit(bits)] = root;
      });
    }
    return one_component;
  }

  template <class Metric>
  ZHALO_HD std::uint64_t friends_in_leaf(const Group& g, const Metric& metric, LocalIndex begin, LocalIndex i,
                                         std::uint64_t candidates) const {
    Lane xi[3];
    this->broadcast_particle(g, fof.tree, i, xi);
    std::uint64_t found = 0;
    for (int j = 0; j < max_leaf_size && candidates >> j != 0; j += Group::size) {
      const std::uint64_t lanes = (candidates >> j) & first_bits(Group::size);
      if (lanes == 0) continue;
      Lane xj[3];
      this->load_particles(g, fof.tree, Index{begin} + j, xj);
      const Index first = Index{begin} + j;
      const auto decide = [&](int lane) { return fof.are_friends(fof, i, first + lane); };
      found |= this->friends(g, metric, this->distance2(metric, xi, xj), lanes, decide) << j;
    }
    return found;
  }
};

}  // namespace zhalo::kernels::ZHALO_GROUP_TARGET
ZHALO_GROUP_END
