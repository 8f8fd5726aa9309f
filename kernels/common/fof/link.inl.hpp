// Linking friends: what linking inside leaves and between leaves share, for any Lanes. No include
// guard: compiled once for each kind of Lanes.

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
    if (is_clump(lo, hi) || num > max_leaf_size) {
      const LocalIndex first = fof.first_in_sets + begin;
      lanes.for_each_lane(num, [&](Index i) { fof.sets.parent[first + i] = first; });
    } else if (this->spans_edges(lo, hi)) {
      connected = link(PeriodicMetric<Lanes>(lanes, fof), begin, num);
    } else {
      connected = link(OpenMetric<Lanes>(lanes, fof), begin, num);
    }
    lanes.one([&] { fof.connected[leaf] = connected ? 1 : 0; });
  }

 private:
  /// Any two points of the box are friends.
  ZHALO_HD bool is_clump(const Real (&lo)[3], const Real (&hi)[3]) const {
    const Real x = hi[0] - lo[0];
    const Real y = hi[1] - lo[1];
    const Real z = hi[2] - lo[2];
    return fused(z, z, fused(y, y, x * x)) <= fof.open.within2;
  }
};

}  // namespace ZHALO_LANES_NAMESPACE
ZHALO_LANES_END
