// All neighbours within a radius, and the k nearest neighbours, of each query of a leaf, for any
// Lanes. No include guard: compiled once for each kind of Lanes.
ZHALO_LANES_BEGIN
namespace ZHALO_LANES_NAMESPACE {

/// Counts the particles of the tree within reach of each query or, where there is room for them,
/// appends them to its row.
template <class Lanes>
struct FindWithin : NeighbourWalk<Lanes, WithinRows<typename Lanes::real>, FindWithin<Lanes>,
                                  StageScratch<typename Lanes::real>> {
  using Base = NeighbourWalk<Lanes, WithinRows<typename Lanes::real>, FindWithin,
                             StageScratch<typename Lanes::real>>;
  using Base::any_index;
  using Base::Base;
  using Base::rows;
  using Base::search;
  using typename Base::Lane;
  using typename Base::LeafAndNodes;
  using typename Base::Scratch;
  using typename Base::Walk;
  /// On a multiprocessor.
  static constexpr int warps_at_once = sizeof(typename Lanes::real) == sizeof(double) ? 20 : 24;
  static constexpr bool takes_whole_nodes = true;

  ZHALO_HD void operator()(const Lanes& lanes, Index item, Scratch& s) const {
    Walk walk = this->walk_of(item, s);
    if (walk.num == 0) return;
    refine(walk);
    this->start(lanes, walk);
    if (walk.num_whole == 0) return;
    lanes.sync();
    lanes.for_few(walk.num, [&](Index i) {
      rows.count[this->row_of(walk, static_cast<int>(i))] += walk.num_whole;
    });
  }

  /// Nodes all of whose particles are within reach of all queries are counted without a look at
  /// them: else many particles within reach would cost a look at each pair.
  template <class Metric>
  ZHALO_HD std::uint64_t without_whole(const Lanes& lanes, const Metric& metric,
                                       const LeafAndNodes& pair, std::uint64_t near,
                                       Walk& walk) const {
    if (near == 0 || rows.offset != nullptr) return near;
    const Lane r2 = this->span2(metric, pair.leaf, pair.nodes);
    std::uint64_t whole = near & lanes.ballot(r2 <= lanes.broadcast(search.reach2));
    near &= ~whole;
    Index num_leaves = 1;  // of a node
    for (int level = 0; level < pair.first.level; ++level) num_leaves *= search.tree.fanout;
    for (; whole != 0; whole &= whole - 1) {
      const Index leaf = (pair.first.first + lowest_bit(whole)) * num_leaves;
      const Index begin = search.tree.particles_before(leaf);
      const Index end = search.tree.particles_before(leaf + num_leaves);
      const bool has_self = search.leave_out_self && begin <= walk.begin && walk.begin < end;
      walk.num_whole += static_cast<LocalIndex>(end - begin - (has_self ? 1 : 0));
    }
    return near;
  }

  template <class Metric>
  ZHALO_HD void visit_query(const Lanes& lanes, const Metric& metric, Walk& walk, int i) const {
    Scratch& s = walk.scratch;
    QueryState<Lanes> query = this->state_of(lanes, walk, i, search.reach2, any_index);
    for (int l = 0; l < walk.num_leaves; l += Lanes::size) {
      for (std::uint64_t near = this->leaves_of_use(lanes, metric, walk, l, query); near != 0;
           near &= near - 1) {
        const ParticleRun run = this->run_of(s.leaf[l + lowest_bit(near)]);
        if (query.staged + static_cast<int>(run.end - run.begin) > Scratch::max_staged)
          append(lanes, query, s);
        this->count_leaf(lanes, 1, run, s);
        this->test_particles(lanes, metric, query, run,
                             [&](const FoundLanes<Lanes>& found) { take(lanes, query, found, s); });
      }
    }
    append(lanes, query, s);
    lanes.sync();  // others may still read the old count
    lanes.one([&] { rows.count[query.row] = query.found; });
  }

  ZHALO_HD void refine(Walk& walk) const { walk.reach2 = search.reach2; }

 private:
  ZHALO_HD void take(const Lanes& lanes, QueryState<Lanes>& query, const FoundLanes<Lanes>& found,
                     Scratch& s) const {
    if (rows.offset == nullptr) {
      query.found += static_cast<LocalIndex>(count_bits(found.lane_bits));
      return;
    }
    lanes.compress(found.lane_bits, found.r2, s.staged2 + query.staged);
    lanes.compress_indices(found.lane_bits, search.first_local_index + found.first,
                           s.staged + query.staged);
    query.staged += count_bits(found.lane_bits);
  }

  ZHALO_HD void append(const Lanes& lanes, QueryState<Lanes>& query, Scratch& s) const {
    if (query.staged == 0) return;
    lanes.sync();
    const Index first = rows.offset[query.row] + query.found;
    lanes.for_few(query.staged, [&](Index i) {
      rows.distance2[first + i] = s.staged2[i];
      rows.local_index[first + i] = s.staged[i];
    });
    lanes.sync();
    query.found += static_cast<LocalIndex>(query.staged);
    query.staged = 0;
  }
};

template <class E, class Real>
void find_within(const E& exec, const SearchView<Real>& search, Index num_leaves,
                 const WithinRows<Real>& rows) {
  for_each_with_lanes(exec, num_leaves, FindWithin<LanesOf<Real>>{search, rows}, LanesOf<Real>{});
}

ZHALO_INSTANTIATE_LANES(find_within);

/// First a bound for each query: the distance within which k of the particles around it in Z-order
/// lie. Then one walk of the leaf through the tree lists the leaves within the bounds, and each
/// query looks at those within its own, its bound becoming the distance of its k-th best.
template <class Lanes>
struct FindNearest : BoundedWalk<Lanes, BestRows<typename Lanes::real>, FindNearest<Lanes>> {
  using Base = BoundedWalk<Lanes, BestRows<typename Lanes::real>, FindNearest<Lanes>>;
  using Base::any_index;
  using Base::Base;
  using Base::rows;
  using Base::search;
  using typename Base::Lane;
  using typename Base::ParticleWindow;
  using typename Base::Real;
  using typename Base::Scratch;
  using typename Base::Walk;

  ZHALO_HD void operator()(const Lanes& lanes, Index item, Scratch& s) const {
    Walk walk = this->walk_of(item, s);
    if (walk.num == 0 || (rows.only_tied && !has_tied(walk))) return;
    for (int i = 0; i < walk.num; ++i) bound_query(lanes, walk, i);
    lanes.sync();
    refine(walk);
    this->start(lanes, walk);
  }

  template <class Metric>
  ZHALO_HD void visit_query(const Lanes& lanes, const Metric& metric, Walk& walk, int i) const {
    Scratch& s = walk.scratch;
    if (s.bound2[i] < 0) return;  // its row is right already
    QueryState<Lanes> query = this->state_of(lanes, walk, i, s.bound2[i], s.bound_index[i]);
    const BestList<Lanes> best{rows, search.global_index};
    BestRow<Real> row = best.open(lanes, query.row, query.found, s);
    for (int l = 0; l < walk.num_leaves; l += Lanes::size) {
      for (std::uint64_t near = this->leaves_of_use(lanes, metric, walk, l, query); near != 0;
           near &= near - 1) {
        ParticleRun run = this->run_of(s.leaf[l + lowest_bit(near)]);
        if (query.staged + static_cast<int>(run.end - run.begin) > Scratch::max_staged) {
          flush(lanes, best, row, query, s);
          // The bound is closer now: of a million particles at one position only the first leaves
          // remain.
          near &= this->leaves_of_use(lanes, metric, walk, l, query);
          if (near == 0) break;
          run = this->run_of(s.leaf[l + lowest_bit(near)]);
        }
        this->count_leaf(lanes, 1, run, s);
        this->test_particles(lanes, metric, query, run, [&](const FoundLanes<Lanes>& found) {
          best.add(lanes, {found.lane_bits, found.r2, search.first_local_index + found.first},
                   query.staged, s);
        });
      }
    }
    flush(lanes, best, row, query, s);
    best.close(lanes, row, query.row);
    lanes.sync();  // others may still read what was
    lanes.one([&] {
      rows.count[query.row] = static_cast<LocalIndex>(row.num);
      s.bound2[i] = query.bound2;
      s.bound_index[i] = query.bound_index;
    });
  }

  ZHALO_HD void refine(Walk& walk) const {
    walk.reach2 = 0;
    walk.reach_index = 0;
    for (int i = 0; i < walk.num; ++i) {
      const Real bound2 = walk.scratch.bound2[i];
      const Index index = walk.scratch.bound_index[i];
      walk.reach2 = bound2 > walk.reach2 ? bound2 : walk.reach2;
      walk.reach_index = index > walk.reach_index ? index : walk.reach_index;
    }
  }

 private:
  /// The bound of a row that is full is its last element.
  ZHALO_HD void flush(const Lanes& lanes, const BestList<Lanes>& best, BestRow<Real>& row,
                      QueryState<Lanes>& query, Scratch& s) const {
    best.flush(lanes, row, query.staged, s);
    query.staged = 0;
    if (row.num < rows.k) return;
    query.bound2 = row.distance2[rows.k - 1];
    query.bound_index = search.global_index[row.index[rows.k - 1]];
  }

  // ---------------------------------------------------------------- bounds

  /// Particles of the tree near a query, and how many of them its bound must hold.
  struct Window : ParticleWindow {
    int needed;
  };

  ZHALO_HD Window window_of(const Lanes& lanes, const Walk& walk, LocalIndex query) const {
    const auto needed = static_cast<int>(rows.k) + (search.leave_out_self ? 1 : 0);
    const PeriodicSpace<Lanes> space(lanes, search.period);
    return {this->window_around(lanes, space, walk, query, needed + needed / 4 + 64), needed};
  }

  ZHALO_HD bool has_tied(const Walk& walk) const {
    bool tied = false;
    for (int i = 0; i < walk.num; ++i) tied = tied || rows.count[this->row_of(walk, i)] == tied_row;
    return tied;
  }

  ZHALO_HD void bound_query(const Lanes& lanes, const Walk& walk, int i) const {
    const Index row = this->row_of(walk, i);
    const Index last = (row + 1) * rows.k - 1;
    const LocalIndex count = rows.count[row];
    Real bound2 = search.reach2;
    Index bound_index = any_index;
    if (rows.only_tied) {
      bound2 = count == tied_row ? rows.distance2[last] : -1;  // of no use to the others
    } else if (rows.resume && count == rows.k) {
      bound2 = rows.distance2[last];
      bound_index = search.global_index[rows.local_index[last]];
    } else {
      const LocalIndex query = walk.begin + static_cast<LocalIndex>(i);
      const Window window = window_of(lanes, walk, query);
      const Real found =
          window.size >= window.needed ? bound_from(lanes, walk, query, window) : bound2;
      bound2 = found < bound2 ? found : bound2;
    }
    lanes.sync();  // others may still read the count
    lanes.one([&] {
      if (!rows.resume && (!rows.only_tied || count == tied_row)) rows.count[row] = 0;
      walk.scratch.bound2[i] = bound2;
      walk.scratch.bound_index[i] = bound_index;
    });
  }

  /// A squared distance within which enough of the window's particles lie, and not many more.
  ZHALO_HD Real bound_from(const Lanes& lanes, const Walk& walk, LocalIndex query,
                           const Window& window) const {
    const Distances distances{walk.scratch, window, query};
    Lane furthest = lanes.broadcast(0);
    lanes.sync();
    for (int j = 0; j < window.size; j += Lanes::size) {
      const Lane r2 = window_distance2(lanes, distances, j);
      furthest = Lanes::max(furthest, r2);
      if (window.size <= Scratch::max_window)
        lanes.compress(first_bits(Lanes::size), r2, walk.scratch.window + j);
    }
    lanes.sync();
    return narrowed(lanes, distances, lanes.reduce_max(furthest));
  }

  struct Distances {
    const Scratch& scratch;
    const Window& window;
    LocalIndex query;
  };

  /// Distances to the window's particles from j on; 0 behind its end.
  ZHALO_HD Lane window_distance2(const Lanes& lanes, const Distances& d, int j) const {
    Lane x[3], other[3];
    for (int axis = 0; axis < 3; ++axis) {
      const Real at = search.queries.pos.axis[axis][d.query];
      x[axis] = lanes.broadcast(at);
      other[axis] =
          lanes.load_or(search.tree.pos.axis[axis] + d.window.begin + j, d.window.size - j, at);
    }
    return this->distance2(PeriodicSpace<Lanes>(lanes, search.period), x, other);
  }

  /// Particles of the window within a squared distance.
  ZHALO_HD int count_within(const Lanes& lanes, const Distances& d, Real r2) const {
    const bool stored = d.window.size <= Scratch::max_window;
    int count = 0;
    for (int j = 0; j < d.window.size; j += Lanes::size) {
      const Lane distances =
          stored ? lanes.load(d.scratch.window + j) : window_distance2(lanes, d, j);
      count += count_bits(lanes.ballot(distances <= lanes.broadcast(r2)) &
                          first_bits(d.window.size - j));
    }
    return count;
  }

  /// Halves the bound while it holds enough, then closes in.
  ZHALO_HD Real narrowed(const Lanes& lanes, const Distances& d, Real max_r2) const {
    const int needed = d.window.needed;
    const int enough = needed + needed / 4;
    Real high = max_r2;
    Real low = 0;
    int count = d.window.size;
    for (int step = 0; count > enough && high / 2 > 0 && low == 0; ++step) {
      // As many at one position: halving would go on to the smallest numbers.
      if (step == 8 && count_within(lanes, d, 0) >= needed) return 0;
      const Real half = high / 2;
      const int inside = count_within(lanes, d, half);
      if (inside < needed) {
        low = half;
      } else {
        high = half;
        count = inside;
      }
    }
    for (int step = 0; step < 3 && count > enough; ++step) {
      const Real middle = (low + high) / 2;
      const int inside = count_within(lanes, d, middle);
      if (inside < needed) {
        low = middle;
      } else {
        high = middle;
        count = inside;
      }
    }
    return high;
  }
};

}  // namespace ZHALO_LANES_NAMESPACE
ZHALO_LANES_END
