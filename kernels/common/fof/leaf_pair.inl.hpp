// Linking friends: what linking inside leaves and between leaves share, and the particles of two
// leaves, for any Lanes. No include guard: compiled once for each kind of Lanes.
ZHALO_LANES_BEGIN
namespace ZHALO_LANES_NAMESPACE {

/// Distances where no image is nearer.
template <class Lanes>
struct OpenMetric : OpenSpace<Lanes> {
  ZHALO_HD OpenMetric(const Lanes&, const FofView<typename Lanes::real>& fof)
      : within2(fof.open.within2), reach2(fof.open.reach2) {}

  typename Lanes::real within2;
  typename Lanes::real reach2;
};

/// Distances to the nearest periodic image.
template <class Lanes>
struct PeriodicMetric : PeriodicSpace<Lanes> {
  ZHALO_HD PeriodicMetric(const Lanes& lanes, const FofView<typename Lanes::real>& fof)
      : PeriodicSpace<Lanes>(lanes, fof.period),
        within2(fof.wrapped.within2),
        reach2(fof.wrapped.reach2) {}

  typename Lanes::real within2;
  typename Lanes::real reach2;
};

template <class Lanes>
struct FofLanes : TreeLanes<Lanes> {
  using Real = typename Lanes::real;
  using Lane = typename Lanes::Lane;
  FofView<Real> fof;

  FofLanes(const FofView<Real>& view) : fof(view) {}

  /// Whether points of the box may have friends across a periodic edge.
  ZHALO_HD bool near_edge(const Real (&lo)[3], const Real (&hi)[3]) const {
    bool near = false;
    for (int axis = 0; axis < 3; ++axis)
      near = near || lo[axis] < fof.inner_lo[axis] || hi[axis] > fof.inner_hi[axis];
    return near;
  }

  /// Whether points of the box may have friends among images of its points.
  ZHALO_HD bool spans_edges(const Real (&lo)[3], const Real (&hi)[3]) const {
    bool spans = false;
    for (int axis = 0; axis < 3; ++axis)
      spans = spans || hi[axis] - lo[axis] > fof.open_extent[axis];
    return spans;
  }

  /// Any two points of the box are friends.
  ZHALO_HD bool is_clump(const Real (&lo)[3], const Real (&hi)[3]) const {
    const Real x = hi[0] - lo[0];
    const Real y = hi[1] - lo[1];
    const Real z = hi[2] - lo[2];
    return fused(z, z, fused(y, y, x * x)) <= fof.open.within2;
  }

  /// Those of `lanes` whose pair, at squared distance r2, are friends. Inside the error band
  /// decide(lane) says it, in double.
  template <class Metric, class Decide>
  ZHALO_HD std::uint64_t friends(const Lanes& lanes, const Metric& metric, Lane r2,
                                 std::uint64_t lane_bits, Decide decide) const {
    std::uint64_t hits = lanes.ballot(r2 <= lanes.broadcast(metric.reach2)) & lane_bits;
    if (hits == 0) return 0;
    std::uint64_t doubtful = hits & ~lanes.ballot(r2 <= lanes.broadcast(metric.within2));
    for (; doubtful != 0; doubtful &= doubtful - 1) {
      const int lane = lowest_bit(doubtful);
      if (!decide(lane)) hits &= ~(std::uint64_t{1} << lane);
    }
    return hits;
  }
};

/// Links the particles inside a leaf and makes its entries of the parent array. Derived types know
/// how to link those of a leaf that is no clump.
template <class Lanes>
struct LinkInside : FofLanes<Lanes> {
  using Base = FofLanes<Lanes>;
  using Base::fof;
  using typename Base::Real;

 protected:
  /// link(metric, begin, num) links the particles of a leaf whose box is not that small, and says
  /// whether they are one set.
  template <class Link>
  ZHALO_HD void link_leaf(const Lanes& lanes, Index leaf, const Link& link) const {
    const LocalIndex begin = fof.tree.leaf_begin[leaf];
    const Index num = fof.tree.leaf_end[leaf] - begin;
    if (num == 0) {
      lanes.one([&] { fof.connected[leaf] = 1; });  // read with its neighbours, and not used
      return;
    }
    Real lo[3], hi[3];
    for (int axis = 0; axis < 3; ++axis) {
      lo[axis] = fof.tree.boxes.lo[axis][leaf];
      hi[axis] = fof.tree.boxes.hi[axis][leaf];
    }
    bool connected = true;
    if (this->is_clump(lo, hi) || num > max_leaf_size) {
      const LocalIndex first = fof.first_in_sets + begin;
      lanes.for_each_lane(num, [&](Index i) { fof.sets.parent[first + i] = first; });
    } else if (this->spans_edges(lo, hi)) {
      connected = link(PeriodicMetric<Lanes>(lanes, fof), begin, num);
    } else {
      connected = link(OpenMetric<Lanes>(lanes, fof), begin, num);
    }
    lanes.one([&] { fof.connected[leaf] = connected ? 1 : 0; });
  }
};

/// Links particles of a leaf that walks with those of a leaf of the tree.
template <class Lanes>
struct LinkLeafPair : FofLanes<Lanes> {
  using Base = FofLanes<Lanes>;
  using Base::fof;
  using typename Base::Lane;
  using typename Base::Real;

 protected:
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

  ZHALO_HD LocalIndex set_of(const LinkedTree<Real>& of, LocalIndex particle) const {
    return fof.sets.find(of.first_in_sets + particle);
  }

  /// A leaf that walks, with its first particles, and one that it meets.
  struct LeafPair {
    const Leaf& walking;
    const Lane (&first_x)[3];
    const Leaf& met;
  };

  /// Links two leaves, if they are not in one set. The boxes are asked for where they are needed:
  /// a device has no registers to keep them.
  template <class Metric, class WalkingBox, class MetBox>
  ZHALO_HD void link_leaves(const Lanes& lanes, const Metric& metric, const LeafPair& pair,
                            const WalkingBox& walking_box, const MetBox& met_box) const {
    const Leaf& a = pair.walking;
    const Leaf& b = pair.met;
    if (a.connected && b.connected &&
        lanes.any(set_of(fof.walkers, a.begin) == set_of(fof, b.begin)))
      return;
    for (LocalIndex i = a.begin; i < a.end; i += Side::max_size) {
      Lane x[3] = {pair.first_x[0], pair.first_x[1], pair.first_x[2]};
      if (i > a.begin) this->load_some(lanes, fof.walkers.tree, i, a.end - i, x);
      const Side near_a = near_box(lanes, metric, {fof.walkers, a, i}, x, met_box());
      if (near_a.open == 0) continue;
      for (LocalIndex j = b.begin; j < b.end; j += Side::max_size) {
        Lane y[3];
        this->load_some(lanes, fof.tree, j, b.end - j, y);
        Side one = near_a;
        Side other = near_box(lanes, metric, {fof, b, j}, y, walking_box());
        if (other.open != 0 && link_sides(lanes, metric, {one, x}, {other, y})) return;
      }
    }
  }

 private:
  /// Some particles of a leaf, of which a bit set says which may still find a friend in the other
  /// leaf.
  struct Side {
    /// A warp has few registers: none for what goes on behind its lanes.
    static constexpr int max_size = Lanes::size < 32 ? 64 : Lanes::size;
    const LinkedTree<Real>& of;
    using Bits = std::conditional_t<(max_size > 32), std::uint64_t, std::uint32_t>;
    bool connected;
    LocalIndex first;
    int size;
    Bits open = 0;

    ZHALO_HD Side(const LinkedTree<Real>& tree, const Leaf& leaf, LocalIndex from)
        : of(tree),
          connected(leaf.connected),
          first(from),
          size(leaf.end - from < max_size ? static_cast<int>(leaf.end - from) : max_size) {}
    ZHALO_HD Bits open_lanes(int from) const {
      return (open >> from) & static_cast<Bits>(first_bits(Lanes::size));
    }
    /// Positions of the particles from `at` on, a multiple of the number of lanes; `first_x` are
    /// the first ones.
    ZHALO_HD void load(const Lanes& lanes, int at, const Lane (&first_x)[3], Lane (&x)[3]) const {
      if (at > 0) return Base::load_some(lanes, of.tree, Index{first} + at, size - at, x);
      for (int axis = 0; axis < 3; ++axis) x[axis] = first_x[axis];
    }
  };

  using Bits = typename Side::Bits;

  /// The same side, open where a particle is within reach of the other leaf's box.
  template <class Metric>
  ZHALO_HD Side near_box(const Lanes& lanes, const Metric& metric, Side side,
                         const Lane (&first_x)[3], const Corners<Lanes>& box) const {
    for (int at = 0; at < Side::max_size && at < side.size; at += Lanes::size) {
      Lane x[3];
      side.load(lanes, at, first_x, x);
      const Corners<Lanes> point{{x[0], x[1], x[2]}, {x[0], x[1], x[2]}};
      const Lane gap2 = this->gap2(metric, box, point, lanes.broadcast(0));
      side.open |= static_cast<Bits>(lanes.ballot(gap2 <= lanes.broadcast(metric.reach2))) << at;
    }
    side.open &= static_cast<Bits>(first_bits(side.size));
    return side;
  }

  struct LoadedSide {
    Side& side;
    const Lane (&first_x)[3];
  };

  /// True if the leaves are in one set now and nothing is left to find. Of two vectors, particles
  /// of the one that has fewer are tested against the other.
  template <class Metric>
  ZHALO_HD bool link_sides(const Lanes& lanes, const Metric& metric, const LoadedSide& a,
                           const LoadedSide& b) const {
    for (int i = 0; i < Side::max_size && i < a.side.size; i += Lanes::size) {
      for (int j = 0; j < Side::max_size && j < b.side.size; j += Lanes::size) {
        const int num_a = count_bits(a.side.open_lanes(i));
        const int num_b = count_bits(b.side.open_lanes(j));
        if (num_a == 0 || num_b == 0) continue;
        if (num_a <= num_b
                ? link_to_lanes(lanes, metric, {a.side, i, a.first_x}, {b.side, j, b.first_x})
                : link_to_lanes(lanes, metric, {b.side, j, b.first_x}, {a.side, i, a.first_x}))
          return true;
      }
    }
    return false;
  }

  /// As many particles of a side as there are lanes.
  struct Part {
    Side& side;
    int at;
    const Lane (&first_x)[3];

    ZHALO_HD LocalIndex particle(int lane) const {
      return side.first + static_cast<LocalIndex>(at + lane);
    }
    ZHALO_HD void load(const Lanes& lanes, Lane (&x)[3]) const { side.load(lanes, at, first_x, x); }
  };

  /// Each of some particles, in turn, with all of the lanes'. True as for link_sides().
  template <class Metric>
  ZHALO_HD bool link_to_lanes(const Lanes& lanes, const Metric& metric, const Part& some,
                              const Part& vector) const {
    Side& side = vector.side;
    Lane x[3];
    vector.load(lanes, x);
    for (Bits left = some.side.open_lanes(some.at); left != 0; left &= left - 1) {
      const int at = lowest_bit(left);
      const LocalIndex i = some.particle(at);
      Lane xi[3];
      if (some.at == 0) {
        this->broadcast_particle_of(lanes, some.side.of.tree, {some.side.first, at}, some.first_x,
                                    xi);
      } else {
        this->broadcast_particle(lanes, some.side.of.tree, i, xi);
      }
      const auto decide = [&](int lane) {
        return fof.are_friends(some.side.of, i, side.of, vector.particle(lane));
      };
      auto hits = static_cast<Bits>(this->friends(lanes, metric, this->distance2(metric, xi, x),
                                                  side.open_lanes(vector.at), decide));
      if (hits == 0) continue;
      // In a connected leaf one friend stands for all.
      if (some.side.connected) side.open &= ~(hits << vector.at);
      if (side.connected) {
        some.side.open &= ~(Bits{1} << (some.at + at));
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

}  // namespace ZHALO_LANES_NAMESPACE
ZHALO_LANES_END
