// Linking friends: inside leaves, then between leaves, for any Lanes. No include guard: compiled
// once for each kind of Lanes.

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

/// Links the particles inside one leaf and makes its entries of the parent array.
template <class Lanes>
struct LinkInside : FofLanes<Lanes> {
  using Base = FofLanes<Lanes>;
  using Base::fof;
  using typename Base::Lane;
  using typename Base::Real;

  struct Scratch {
    LocalIndex root[max_leaf_size];  ///< of each particle, until all are known
  };

  ZHALO_HD void operator()(const Lanes& lanes, Index leaf, Scratch& s) const {
    link_leaf(lanes, leaf, [&](const auto& metric, LocalIndex begin, Index num) {
      const bool connected = flood(lanes, metric, {begin, num}, s);
      lanes.sync();
      const Index first = Index{fof.first_in_sets} + begin;
      lanes.for_each_lane(num, [&](Index i) { fof.sets.parent[first + i] = s.root[i]; });
      return connected;
    });
  }

 protected:
  /// `flood` links the particles of a leaf whose box is not that small.
  template <class Flood>
  ZHALO_HD void link_leaf(const Lanes& lanes, Index leaf, const Flood& flood) const {
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
      connected = flood(PeriodicMetric<Lanes>(lanes, fof), begin, num);
    } else {
      connected = flood(OpenMetric<Lanes>(lanes, fof), begin, num);
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

  struct Particles {
    LocalIndex begin;
    Index num;
  };

  /// Finds the components by flood fill over bit sets; true if there is one.
  template <class Metric>
  ZHALO_HD bool flood(const Lanes& lanes, const Metric& metric, const Particles& leaf,
                      Scratch& s) const {
    const auto [begin, num] = leaf;
    Lane first_x[3];  // most leaves have no more particles
    this->load_some(lanes, fof.tree, begin, num, first_x);
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
        const std::uint64_t found = friends_in_leaf(lanes, metric, {begin, first_x},
                                                    begin + static_cast<LocalIndex>(i), left);
        left &= ~found;
        component |= found;
        frontier |= found;
      }
      one_component = one_component && component == first_bits(num);
      const LocalIndex root = fof.first_in_sets + begin + static_cast<LocalIndex>(seed);
      lanes.for_each_bit(component, [&](int i) { s.root[i] = root; });
    }
    return one_component;
  }

  /// A leaf, and positions of as many of its particles as there are lanes.
  struct LoadedLeaf {
    LocalIndex begin;
    const Lane (&first_x)[3];
  };

  template <class Metric>
  ZHALO_HD std::uint64_t friends_in_leaf(const Lanes& lanes, const Metric& metric,
                                         const LoadedLeaf& leaf, LocalIndex i,
                                         std::uint64_t candidates) const {
    Lane xi[3];
    const int lane = static_cast<int>(i - leaf.begin);
    if (lane < Lanes::size) {
      this->broadcast_particle_of(lanes, fof.tree, {leaf.begin, lane}, leaf.first_x, xi);
    } else {
      this->broadcast_particle(lanes, fof.tree, i, xi);
    }
    std::uint64_t found = 0;
    for (int j = 0; j < max_leaf_size && candidates >> j != 0; j += Lanes::size) {
      const std::uint64_t lane_bits = (candidates >> j) & first_bits(Lanes::size);
      if (lane_bits == 0) continue;
      Lane xj[3] = {leaf.first_x[0], leaf.first_x[1], leaf.first_x[2]};
      const Index first = Index{leaf.begin} + j;
      if (j > 0) this->load_particles(lanes, fof.tree, first, xj);
      const auto decide = [&](int other) { return fof.are_friends(fof, i, fof, first + other); };
      found |= this->friends(lanes, metric, this->distance2(metric, xi, xj), lane_bits, decide)
               << j;
    }
    return found;
  }
};

}  // namespace ZHALO_LANES_NAMESPACE
ZHALO_LANES_END
