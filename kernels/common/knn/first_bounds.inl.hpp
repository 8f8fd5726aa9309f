// Where searches for the k nearest begin: how far each query has to look. No include guard:
// compiled once for each kind of Lanes.

ZHALO_LANES_BEGIN
namespace ZHALO_LANES_NAMESPACE {

/// A walk for the k nearest, whose first bounds come from particles around the queries.
template <class Lanes, class Rows, class Derived,
          class ScratchType = NeighbourScratch<typename Lanes::real>>
struct BoundedWalk : NeighbourWalk<Lanes, Rows, Derived, ScratchType> {
  using Base = NeighbourWalk<Lanes, Rows, Derived, ScratchType>;
  using Base::Base;
  using Base::infinity;
  using Base::search;
  using typename Base::Lane;
  using typename Base::Real;
  using typename Base::Walk;

 protected:
  /// Particles of the tree that follow each other.
  struct ParticleWindow {
    LocalIndex begin;
    int size;
  };

  /// Those in the leaf itself or, where the queries are no particles, in the leaf of the tree that
  /// is nearest to the query; and as many around them as are wanted.
  template <class Metric>
  ZHALO_HD ParticleWindow window_around(const Lanes& lanes, const Metric& metric, const Walk& walk,
                                        LocalIndex query, Index wanted) const {
    const Index leaf =
        search.queries_are_particles ? walk.leaf : nearest_leaf(lanes, metric, query);
    const Index begin = search.tree.leaf_begin[leaf];
    const Index end = search.tree.leaf_end[leaf];
    const Index size = end - begin > wanted ? end - begin : wanted;
    const Index before = (size - (end - begin)) / 2;
    Index first = begin > before ? begin - before : 0;
    if (first + size > search.tree.pos.num) first = search.tree.pos.num - size;
    if (first < 0) first = 0;
    const Index last = first + size < search.tree.pos.num ? first + size : search.tree.pos.num;
    return {static_cast<LocalIndex>(first), static_cast<int>(last - first)};
  }

  /// Calls bound(metric, walk), which finds first bounds and the walk's reach. Queries that are
  /// particles have enough others around them; images are nearer yet. Other queries may have all
  /// that is near across an edge: then the reach is far beyond what queries and their neighbours
  /// usually take.
  template <class Bound>
  ZHALO_HD void find_bounds(const Lanes& lanes, Walk& walk, const Bound& bound) const {
    bound(OpenSpace<Lanes>{}, walk);
    if (!search.queries_are_particles && reaches_far(walk) && this->crosses_edge(walk))
      walk.reach2 = periodic_reach2(lanes, walk, bound);
  }

 private:
  /// Whether the reach is more than 4 times the diagonal of the queries' box.
  ZHALO_HD bool reaches_far(const Walk& walk) const {
    Real extent2 = 0;
    for (int axis = 0; axis < 3; ++axis) {
      const Real extent =
          search.queries.boxes.hi[axis][walk.leaf] - search.queries.boxes.lo[axis][walk.leaf];
      extent2 += extent * extent;
    }
    return walk.reach2 > 16 * extent2;
  }

  /// Works on a copy: a compiler keeps the walk itself in registers if nothing has its address.
  template <class Bound>
  ZHALO_LANES_APART ZHALO_HD Real periodic_reach2(const Lanes& lanes, Walk walk,
                                                  const Bound& bound) const {
    bound(PeriodicSpace<Lanes>(lanes, search.period), walk);
    return walk.reach2;
  }

  /// To the nearest point of a box, squared. Boxes overlap: of those around the query the one
  /// counts whose particles are all near, which the furthest point of the box tells. Devices do not
  /// ask that: it takes registers.
  template <class Metric>
  ZHALO_HD static Lane distance2_for_descent(const Lanes& lanes, const Metric& metric,
                                             const Corners<Lanes>& box, const Lane (&x)[3]) {
    const Corners<Lanes> point{{x[0], x[1], x[2]}, {x[0], x[1], x[2]}};
    const Lane near2 = Base::gap2(metric, point, box, lanes.broadcast(0));
    if constexpr (Lanes::keeps_elements) {
      return near2;
    } else {
      constexpr auto weight = static_cast<Real>(0.01);  // 0.001 to 0.03 do as well
      Lane far[3];
      for (int axis = 0; axis < 3; ++axis) {
        const Lane lo = box.lo[axis], hi = box.hi[axis];
        far[axis] = Lanes::max(x[axis] - lo, hi - x[axis]);
        if constexpr (Metric::periodic) {
          // An infinite period less the infinite distance of an empty box is no number.
          const Lane apart = Lanes::min(Lanes::max(lo - x[axis], x[axis] - hi),
                                        lanes.broadcast(std::numeric_limits<Real>::max()));
          far[axis] = Lanes::min(far[axis], metric.period[axis] - apart);
        }
      }
      const Lane far2 = Lanes::fma(far[2], far[2], Lanes::fma(far[1], far[1], far[0] * far[0]));
      return Lanes::fma(far2, lanes.broadcast(weight), near2);
    }
  }

  /// Down from the top, always to the child that is nearest to the query.
  template <class Metric>
  ZHALO_HD Index nearest_leaf(const Lanes& lanes, const Metric& metric, LocalIndex query) const {
    Lane x[3];
    this->broadcast_particle(lanes, search.queries, query, x);
    Index node = 0;
    for (int level = search.tree.num_levels - 1; level >= 0; --level) {
      const Index first = node * search.tree.fanout;
      Real nearest = infinity;
      node = first;
      for (int j = 0; j < search.tree.fanout; j += Lanes::size) {
        Corners<Lanes> other;
        this->load_boxes(lanes, search.tree, search.tree.level_first[level] + first + j, other);
        const Lane r2 = distance2_for_descent(lanes, metric, other, x);
        const Real min_r2 = lanes.reduce_min(r2);
        const std::uint64_t at =
            lanes.ballot(r2 <= lanes.broadcast(min_r2)) & first_bits(search.tree.fanout - j);
        if (!(min_r2 < nearest) || at == 0) continue;
        nearest = min_r2;
        node = first + j + lowest_bit(at);
      }
    }
    return node;
  }
};

}  // namespace ZHALO_LANES_NAMESPACE
ZHALO_LANES_END
