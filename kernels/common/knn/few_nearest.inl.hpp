// The k nearest neighbours for small k, with a query in each lane, for any Lanes. No include guard:
// compiled once for each kind of Lanes.

ZHALO_LANES_BEGIN
namespace ZHALO_LANES_NAMESPACE {

/// First a bound for each query, from particles around it in Z-order. Then one walk of the leaf
/// lists the leaves within the bounds, and the queries, as many at a time as there are lanes, look
/// at the particles of each.
///
/// Neighbours are ordered by their distance alone. Rows are brought into the order of global
/// indices among equal distances when they are written. Where a particle just as far as the last
/// neighbour may have been left out, the row is marked as tied.
template <class Lanes, int max_k>
struct FindFewNearest : FewRows<Lanes, max_k, FindFewNearest<Lanes, max_k>> {
  using Base = FewRows<Lanes, max_k, FindFewNearest>;
  using Base::Base;
  using Base::infinity;
  using Base::rows;
  using Base::search;
  using typename Base::Best;
  using typename Base::Lane;
  using typename Base::Position;
  using typename Base::Real;
  using typename Base::Scratch;
  using typename Base::Walk;
  /// On a multiprocessor: with more of them, a device would keep registers in memory.
  static constexpr int warps_at_once = sizeof(Real) > 4 ? 16 : max_k > 8 ? 20 : 28;

  ZHALO_HD void operator()(const Lanes& lanes, Index item, Scratch& s) const {
    Walk walk = this->walk_of(item, s);
    if (walk.num == 0) return;
    this->find_bounds(lanes, walk, [this, &lanes](const auto& metric, Walk& of) {
      for (int first = 0; first < of.num; first += Lanes::size)
        bound_queries(lanes, metric, of, first);
      lanes.sync();
      refine(of);
    });
    this->start(lanes, walk);
  }

  template <class Metric>
  ZHALO_HD void visit(const Lanes& lanes, const Metric& metric, Walk& walk) const {
    mark_near_leaves(lanes, metric, walk);
    for (int first = 0; first < walk.num; first += Lanes::size)
      visit_lanes(lanes, metric, walk, first);
  }

  ZHALO_HD void refine(Walk& walk) const {
    walk.reach2 = -1;
    for (int i = 0; i < walk.num; ++i) {
      const Real bound2 = walk.scratch.bound2[i];
      walk.reach2 = bound2 > walk.reach2 ? bound2 : walk.reach2;
    }
  }

 private:
  static constexpr Real largest = std::numeric_limits<Real>::max();
  static constexpr Real smallest = std::numeric_limits<Real>::denorm_min();
  static constexpr Real half_unit = std::numeric_limits<Real>::epsilon() / 2;
  static constexpr double near_part = 0.02;  ///< of the reach, squared
  /// Particles are copied, with some at infinity behind them: loops need not look for the end.
  static constexpr bool copies = Lanes::keeps_elements;
  /// Particles that are looked at before the first branch.
  static constexpr int together = max_k * sizeof(Real) > 64 ? 2 : 4;

  /// Positions of particles from `first` on.
  struct Particles {
    LocalIndex first;
    const Real* axis[3];   ///< where they are in the tree
    const Position* copy;  ///< or what threads made
  };

  /// Threads first copy them to their scratch memory: of other memory one number takes them as long
  /// as one for each. That of the rows is free before rows are written.
  ZHALO_HD Particles particles_of(const Lanes& lanes, const ParticleRun& run, Scratch& s) const {
    const auto& axis = search.tree.pos.axis;
    const Particles particles{
        run.begin, {axis[0] + run.begin, axis[1] + run.begin, axis[2] + run.begin}, s.particles};
    if constexpr (copies) {
      const int num = static_cast<int>(run.end - run.begin);
      const int num_with_others = (num + max_k - 1) / max_k * max_k;
      ZHALO_EXPECT(num_with_others <= Scratch::max_particles);
      lanes.sync();
      lanes.for_few(num_with_others, [&](Index i) {
        const LocalIndex at = run.begin + static_cast<LocalIndex>(i);
        Position position{{infinity, infinity, infinity}};
        if (i < num) position = {{axis[0][at], axis[1][at], axis[2][at]}};
        s.particles[i] = position;
      });
      lanes.sync();
    }
    return particles;
  }

  /// A query in each lane.
  struct Queries {
    Lane x[3];
    Lane bound2;       ///< what is further away is of no use
    LocalIndex first;  ///< index of the first lane's one
    bool leave_out_self;
  };

  struct SearchedQueries : Queries {
    Scratch& scratch;
    Best best;
    int num_waiting = 0;  ///< of the lane, in the scratch memory
  };

  ZHALO_HD Queries queries_of(const Lanes& lanes, const Walk& walk, int first) const {
    Queries queries;
    queries.first = walk.begin + static_cast<LocalIndex>(first);
    this->load_some(lanes, search.queries, queries.first, walk.num - first, queries.x);
    queries.bound2 = lanes.broadcast(search.reach2);
    queries.leave_out_self = search.leave_out_self;
    return queries;
  }

  /// Takes the distances to particles from `particle` on, and makes those of queries to themselves
  /// infinite, if they are left out.
  template <std::size_t num>
  ZHALO_HD static void leave_out_self(const Lanes& lanes, const Queries& queries,
                                      LocalIndex particle, Lane (&r2)[num]) {
    if (!queries.leave_out_self) return;
    ZHALO_UNROLL
    for (std::size_t u = 0; u < num; ++u) {
      const LocalIndex lane = particle + static_cast<LocalIndex>(u) - queries.first;
      if (lane < static_cast<LocalIndex>(Lanes::size))
        r2[u] = lanes.select(std::uint64_t{1} << lane, lanes.broadcast(infinity), r2[u]);
    }
  }

  /// Each of max_k particles is the nearest of its part of the window: within the distance of the
  /// k-th of them lie k.
  template <class Metric>
  ZHALO_HD void bound_queries(const Lanes& lanes, const Metric& metric, const Walk& walk,
                              int first) const {
    const Queries queries = queries_of(lanes, walk, first);
    const int num = walk.num - first;
    const auto middle = static_cast<LocalIndex>(num < Lanes::size ? num / 2 : Lanes::size / 2);
    const auto window =
        this->window_around(lanes, metric, walk, queries.first + middle, Scratch::max_particles);
    const Particles around = particles_of(
        lanes, {window.begin, window.begin + static_cast<LocalIndex>(window.size)}, walk.scratch);
    Lane nearest[std::size_t{max_k}];
    ZHALO_UNROLL
    for (int u = 0; u < max_k; ++u) nearest[u] = lanes.broadcast(infinity);
    for (int j = 0; j < window.size; j += max_k) {
      const LocalIndex particle = window.begin + static_cast<LocalIndex>(j);
      Lane r2[std::size_t{max_k}];
      ZHALO_UNROLL
      for (int u = 0; u < max_k; ++u) {
        const bool is_there = copies || j + u < window.size;
        r2[u] = is_there ? distance2_to(lanes, metric, queries, around,
                                        particle + static_cast<LocalIndex>(u))
                         : lanes.broadcast(infinity);
      }
      leave_out_self(lanes, queries, particle, r2);
      ZHALO_UNROLL
      for (int u = 0; u < max_k; ++u) nearest[u] = Lanes::min(nearest[u], r2[u]);
    }
    const Lane kth2 = kth_of<max_k>(nearest, static_cast<int>(rows.k));
    const Lane bound2 = Lanes::min(kth2, queries.bound2);
    lanes.store(lanes.select(first_bits(num), bound2, lanes.broadcast(-1)),
                walk.scratch.bound2 + first);
  }

  /// The k-th smallest of the first `num` values, at most the last of them, of each lane. Values
  /// are moved.
  template <int num>
  ZHALO_HD static Lane kth_of(Lane (&values)[std::size_t{max_k}], int k) {
    if constexpr (num > 1) {
      ZHALO_UNROLL
      for (int u = 0; u + 1 < num; ++u) {
        const Lane larger = Lanes::max(values[u], values[u + 1]);
        values[u] = Lanes::min(values[u], values[u + 1]);
        values[u + 1] = larger;
      }
      if (k < num) return kth_of<num - 1>(values, k);
    }
    return values[num - 1];
  }

  template <class Metric>
  ZHALO_HD Lane distance2_to(const Lanes& lanes, const Metric& metric, const Queries& queries,
                             const Particles& particles, LocalIndex particle) const {
    const LocalIndex at = particle - particles.first;
    Lane x[3];
    if constexpr (copies) {
      const Position position = particles.copy[at];
      for (int axis = 0; axis < 3; ++axis) x[axis] = position.x[axis];
    } else {
      for (int axis = 0; axis < 3; ++axis) x[axis] = lanes.broadcast(particles.axis[axis][at]);
    }
    return this->distance2(metric, queries.x, x);
  }

  /// Near leaves come first, for they bring the bounds down.
  template <class Metric>
  ZHALO_HD void mark_near_leaves(const Lanes& lanes, const Metric& metric, const Walk& walk) const {
    const Lane near2 = lanes.broadcast(walk.reach2 * static_cast<Real>(near_part));
    Corners<Lanes> own;
    this->broadcast_box(lanes, search.queries, walk.leaf, own);
    for (int l = 0; l < walk.num_leaves; l += Lanes::size) {
      const Lane r2 =
          this->gap2(metric, own, this->listed_boxes(lanes, walk, l), lanes.broadcast(0));
      const std::uint64_t near = lanes.ballot(r2 <= near2);
      lanes.for_few(Lanes::size, [&](Index i) {
        walk.scratch.is_near[l + i] = static_cast<std::uint8_t>(near >> i & 1);
      });
    }
    lanes.sync();
  }

  template <class Metric>
  ZHALO_HD void visit_lanes(const Lanes& lanes, const Metric& metric, Walk& walk, int first) const {
    Scratch& s = walk.scratch;
    SearchedQueries queries{queries_of(lanes, walk, first), s, {}, 0};
    queries.bound2 = lanes.load(s.bound2 + first);
    queries.best.clear(lanes, static_cast<int>(rows.k));
    if (walk.was_visited) this->read_rows(lanes, walk, first, queries.best);
    for (int of_near = 1; of_near >= 0; --of_near) {
      for (int l = 0; l < walk.num_leaves; ++l)
        if (s.is_near[l] == of_near) visit_leaf(lanes, metric, l, walk, queries);
    }
    if constexpr (Scratch::max_waiting > 0) take_waiting(lanes, queries);
    lanes.store(queries.bound2, s.bound2 + first);
    this->write_rows(lanes, walk, first, queries.best);
  }

  template <class Metric>
  ZHALO_HD void visit_leaf(const Lanes& lanes, const Metric& metric, int l, Walk& walk,
                           SearchedQueries& queries) const {
    Corners<Lanes> box;
    for (int axis = 0; axis < 3; ++axis) {
      box.lo[axis] = lanes.broadcast(walk.scratch.lo[axis][l]);
      box.hi[axis] = lanes.broadcast(walk.scratch.hi[axis][l]);
    }
    const Corners<Lanes> points{{queries.x[0], queries.x[1], queries.x[2]},
                                {queries.x[0], queries.x[1], queries.x[2]}};
    const Lane gap2 = this->gap2(metric, points, box, lanes.broadcast(0));
    const int num_queries = count_bits(lanes.ballot(gap2 <= queries.bound2));
    if (num_queries == 0) return;
    const ParticleRun run = this->run_of(walk.scratch.leaf[l]);
    this->count_leaf(lanes, num_queries, run, walk.scratch);
    const Particles candidates = particles_of(lanes, run, walk.scratch);
    for (LocalIndex j = run.begin; j < run.end; j += together)
      look_at(lanes, metric, candidates, {j, run.end}, queries);
    if constexpr (Scratch::max_waiting == 0) keep_from_ties(lanes, queries);
  }

  using Distances = Lane[std::size_t{together}];

  /// The first particles of a run.
  template <class Metric>
  ZHALO_HD void look_at(const Lanes& lanes, const Metric& metric, const Particles& candidates,
                        const ParticleRun& run, SearchedQueries& queries) const {
    Distances r2;
    ZHALO_UNROLL
    for (int u = 0; u < together; ++u) {
      r2[u] =
          distance2_to(lanes, metric, queries, candidates, run.begin + static_cast<LocalIndex>(u));
    }
    leave_out_self(lanes, queries, run.begin, r2);
    if constexpr (Scratch::max_waiting > 0) {
      let_wait(lanes, r2, run.begin, queries);
    } else {
      offer(lanes, r2, run, queries);
    }
  }

  ZHALO_HD void offer(const Lanes& lanes, const Distances& r2, const ParticleRun& run,
                      SearchedQueries& queries) const {
    const Lane bound2 = queries.bound2;
    typename Lanes::Mask within[std::size_t{together}];
    ZHALO_UNROLL
    for (int u = 0; u < together; ++u) within[u] = r2[u] <= bound2;
    const auto wanted = static_cast<std::uint32_t>(lanes.any_of(within));
    if (wanted == 0) return;
    ZHALO_UNROLL
    for (int u = 0; u < together; ++u) {
      const LocalIndex particle = run.begin + static_cast<LocalIndex>(u);
      if ((wanted >> u & 1) == 0 || (!copies && particle >= run.end)) continue;
      queries.best.insert(lanes, lanes.select(within[u], r2[u], lanes.broadcast(infinity)),
                          lanes.broadcast_index(search.first_local_index + particle));
    }
    queries.bound2 = Lanes::min(bound2, queries.best.distance2[max_k - 1]);
  }

  /// In a warp all lanes take as long as one that sorts a candidate in. So each puts its own
  /// candidates aside, and all sort them in together once one has no room left.
  ZHALO_HD void let_wait(const Lanes& lanes, const Distances& r2, LocalIndex first,
                         SearchedQueries& queries) const {
    Lane nearest2 = r2[0];
    ZHALO_UNROLL
    for (int u = 1; u < together; ++u) nearest2 = Lanes::min(nearest2, r2[u]);
    if (!lanes.any(nearest2 <= queries.bound2)) return;
    for (int u = 0; u < together; ++u) {
      const LocalIndex index = search.first_local_index + first + static_cast<LocalIndex>(u);
      lanes.where(r2[u] <= queries.bound2, [&](int lane) {
        queries.scratch.waiting[queries.num_waiting * Lanes::size + lane] = {
            r2[u], lanes.broadcast_index(index)};
        ++queries.num_waiting;
      });
    }
    if (lanes.any(queries.num_waiting > Scratch::max_waiting - together))
      take_waiting(lanes, queries);
  }

  ZHALO_HD void take_waiting(const Lanes& lanes, SearchedQueries& queries) const {
    for (int i = 0; lanes.any(i < queries.num_waiting); ++i) {
      Lane r2 = lanes.broadcast(infinity);
      Lane index = lanes.broadcast_index(no_index);
      lanes.where(i < queries.num_waiting, [&](int lane) {
        const auto& one = queries.scratch.waiting[i * Lanes::size + lane];
        r2 = one.distance2;
        index = one.index;
      });
      queries.best.insert(lanes, r2, index);
    }
    queries.num_waiting = 0;
    queries.bound2 = Lanes::min(queries.bound2, queries.best.distance2[max_k - 1]);
    keep_from_ties(lanes, queries);
  }

  /// A lane that lost a neighbour as far as its last one wants nearer ones only from now on: thus
  /// many particles at one position cost no more than others.
  ZHALO_HD void keep_from_ties(const Lanes& lanes, SearchedQueries& queries) const {
    const Best& best = queries.best;
    const Lane last2 = best.distance2[max_k - 1];
    const std::uint64_t tied =
        lanes.ballot(best.lost2 <= Lanes::min(last2, lanes.broadcast(largest)));
    if (tied == 0) return;  // a branch is cheaper than waiting for these numbers
    // The next smaller number: rounding brings down what is less than one unit below.
    const Lane below =
        Lanes::fma(last2, lanes.broadcast(1 - half_unit), lanes.broadcast(-smallest));
    queries.bound2 = lanes.select(tied, Lanes::min(queries.bound2, below), queries.bound2);
  }
};

template <int max_k, class E, class Real>
void find_few_nearest(const E& exec, const SearchView<Real>& search, Index num_leaves,
                      const BestRows<Real>& rows) {
  using Lanes = LanesOf<Real>;
  for_each_with_lanes(exec, num_leaves, FindFewNearest<Lanes, max_k>{search, rows}, Lanes{});
}

/// More than this a thread has registers for, and a device's has less: it selects instead.
template <class Real>
inline constexpr int max_k_in_lanes = (LanesOf<Real>::keeps_elements ? 64 : 128) /
                                      static_cast<int>(sizeof(Real));

template <class E, class Real>
void find_nearest(const E& exec, const SearchView<Real>& search, Index num_leaves,
                  const BestRows<Real>& wanted) {
  BestRows<Real> rows = wanted;
  constexpr int max_k = max_k_in_lanes<Real>;
  if (!rows.resume && rows.k <= max_k) {
    rows.only_tied = true;
    if (rows.k <= 8) {
      find_few_nearest<8>(exec, search, num_leaves, rows);
    } else if constexpr (max_k > 8) {
      if (max_k == 16 || rows.k <= 16) {
        find_few_nearest<16>(exec, search, num_leaves, rows);
      } else if constexpr (max_k > 16) {
        find_few_nearest<max_k>(exec, search, num_leaves, rows);
      }
    }
  } else if constexpr (!std::is_same_v<E, Host>) {
    rows.only_tied = !rows.resume && select_nearest(exec, search, num_leaves, rows);
  }
  for_each_with_lanes(exec, num_leaves, FindNearest<LanesOf<Real>>{search, rows}, LanesOf<Real>{});
}

ZHALO_INSTANTIATE_LANES(find_nearest);

}  // namespace ZHALO_LANES_NAMESPACE
ZHALO_LANES_END
