// The k nearest neighbours of each query of a leaf, for any Lanes. No include guard: compiled once
// for each kind of Lanes.

ZHALO_LANES_BEGIN
namespace ZHALO_LANES_NAMESPACE {

/// First a bound for each query: the distance within which k of the particles around it in Z-order
/// lie. Then one walk of the leaf through the tree lists the leaves within the bounds, and each
/// query looks at those within its own, its bound becoming the distance of its k-th best.
template <class Lanes>
struct FindNearest : NeighbourWalk<Lanes, BestRows<typename Lanes::real>, FindNearest<Lanes>> {
  using Base = NeighbourWalk<Lanes, BestRows<typename Lanes::real>, FindNearest<Lanes>>;
  using Base::any_index;
  using Base::Base;
  using Base::rows;
  using Base::search;
  using typename Base::Lane;
  using typename Base::Real;
  using typename Base::Scratch;
  using typename Base::Walk;

  ZHALO_HD void operator()(const Lanes& g, Index item, Scratch& s) const {
    Walk walk = this->walk_of(item, s);
    if (walk.num == 0) return;
    for (int i = 0; i < walk.num; ++i) {
      const Index row = this->row_of(walk, i);
      if (!rows.resume) g.one([&] { rows.count[row] = 0; });
      bound_query(g, walk, i);
    }
    g.sync();
    refine(walk);
    this->start(g, walk);
  }

  template <class Metric>
  ZHALO_HD void visit(const Lanes& g, const Metric& metric, Walk& walk, int i) const {
    Scratch& s = walk.scratch;
    QueryState<Lanes> query = this->state_of(g, walk, i, s.bound2[i], s.bound_index[i]);
    const BestList<Lanes> best{rows, search.global_index};
    for (int l = 0; l < walk.num_leaves; l += Lanes::size) {
      for (std::uint64_t near = this->leaves_of_use(g, metric, walk, l, query); near != 0;
           near &= near - 1) {
        ParticleRun run = this->run_of(s.leaf[l + lowest_bit(near)]);
        if (query.staged + static_cast<int>(run.end - run.begin) > Scratch::max_staged) {
          flush(g, best, query, s);
          // The bound is closer now: of a million particles in one place only the first leaves
          // remain.
          near &= this->leaves_of_use(g, metric, walk, l, query);
          if (near == 0) break;
          run = this->run_of(s.leaf[l + lowest_bit(near)]);
        }
        walk.work.leaves += 1;
        walk.work.pairs += run.end - run.begin;
        this->test_particles(g, metric, query, run, [&](const FoundLanes<Lanes>& found) {
          best.add(g, {found.lanes, found.r2, search.first_local_index + found.first}, query.staged,
                   s);
        });
      }
    }
    flush(g, best, query, s);
    g.sync();  // others may still read what was
    g.one([&] {
      rows.count[query.row] = query.found;
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
  static constexpr Real infinity = std::numeric_limits<Real>::infinity();

  ZHALO_HD void flush(const Lanes& g, const BestList<Lanes>& best, QueryState<Lanes>& query,
                      Scratch& s) const {
    query.found = best.flush(g, query.row, query.found, query.staged, s);
    query.staged = 0;
    if (query.found == rows.k) take_bound(query);
  }

  /// The bound of a row that is full: its last element.
  ZHALO_HD void take_bound(QueryState<Lanes>& query) const {
    const Index last = (query.row + 1) * rows.k - 1;
    query.bound2 = rows.distance2[last];
    query.bound_index = search.global_index[rows.local_index[last]];
  }

  // ---------------------------------------------------------------- bounds

  /// Particles of the tree near the leaf, and how many of them each bound must hold.
  struct Window {
    LocalIndex begin;
    int size;
    int needed;
  };

  /// Around the leaf itself or, where the queries are no particles, around the leaf of the tree
  /// that is nearest to the query.
  ZHALO_HD Window window_of(const Lanes& g, const Walk& walk, LocalIndex query) const {
    const Index leaf = search.queries_are_particles ? walk.leaf : nearest_leaf(g, query);
    const auto needed = static_cast<int>(rows.k) + (search.leave_out_self ? 1 : 0);
    const Index begin = search.tree.leaf_begin[leaf];
    const Index end = search.tree.leaf_end[leaf];
    const Index wanted = needed + needed / 4 + 64;
    const Index size = end - begin > wanted ? end - begin : wanted;
    const Index before = (size - (end - begin)) / 2;
    Index first = begin > before ? begin - before : 0;
    if (first + size > search.tree.pos.num) first = search.tree.pos.num - size;
    if (first < 0) first = 0;
    const Index last = first + size < search.tree.pos.num ? first + size : search.tree.pos.num;
    return {static_cast<LocalIndex>(first), static_cast<int>(last - first), needed};
  }

  /// Down from the top, always to the child that is nearest to the query.
  ZHALO_HD Index nearest_leaf(const Lanes& g, LocalIndex query) const {
    Lane x[3];
    this->broadcast_particle(g, search.queries, query, x);
    const Corners<Lanes> box{{x[0], x[1], x[2]}, {x[0], x[1], x[2]}};
    Index node = 0;
    for (int level = search.tree.num_levels - 1; level >= 0; --level) {
      const Index first = node * search.tree.fanout;
      Real nearest = infinity;
      node = first;
      for (int j = 0; j < search.tree.fanout; j += Lanes::size) {
        Corners<Lanes> other;
        this->load_boxes(g, search.tree, search.tree.level_first[level] + first + j, other);
        const Lane r2 = this->gap2(OpenSpace<Lanes>{}, box, other, g.broadcast(0));
        const Real least = g.reduce_min(r2);
        const std::uint64_t at =
            g.ballot(r2 <= g.broadcast(least)) & first_bits(search.tree.fanout - j);
        if (!(least < nearest) || at == 0) continue;
        nearest = least;
        node = first + j + lowest_bit(at);
      }
    }
    return node;
  }

  ZHALO_HD void bound_query(const Lanes& g, const Walk& walk, int i) const {
    const Index row = this->row_of(walk, i);
    const LocalIndex query = walk.begin + static_cast<LocalIndex>(i);
    Real bound2 = search.reach2;
    Index bound_index = any_index;
    if (rows.resume && rows.count[row] == rows.k) {
      const Index last = (row + 1) * rows.k - 1;
      bound2 = rows.distance2[last];
      bound_index = search.global_index[rows.local_index[last]];
    } else {
      const Window window = window_of(g, walk, query);
      const Real found = window.size >= window.needed ? bound_from(g, walk, query, window) : bound2;
      bound2 = found < bound2 ? found : bound2;
    }
    g.one([&] {
      walk.scratch.bound2[i] = bound2;
      walk.scratch.bound_index[i] = bound_index;
    });
  }

  /// A squared distance within which enough of the window's particles lie, and not many more.
  /// Without images: those are nearer yet.
  ZHALO_HD Real bound_from(const Lanes& g, const Walk& walk, LocalIndex query,
                           const Window& window) const {
    const Distances distances{walk.scratch, window, query};
    Lane furthest = g.broadcast(0);
    g.sync();
    for (int j = 0; j < window.size; j += Lanes::size) {
      const Lane r2 = window_distance2(g, distances, j);
      furthest = Lanes::max(furthest, r2);
      if (window.size <= Scratch::max_window)
        g.compress(first_bits(Lanes::size), r2, walk.scratch.window + j);
    }
    g.sync();
    return narrowed(g, distances, g.reduce_max(furthest));
  }

  struct Distances {
    const Scratch& scratch;
    const Window& window;
    LocalIndex query;
  };

  /// Distances to the window's particles from j on; 0 behind its end.
  ZHALO_HD Lane window_distance2(const Lanes& g, const Distances& d, int j) const {
    Lane x[3], other[3];
    for (int axis = 0; axis < 3; ++axis) {
      const Real at = search.queries.pos.axis[axis][d.query];
      x[axis] = g.broadcast(at);
      other[axis] =
          g.load_or(search.tree.pos.axis[axis] + d.window.begin + j, d.window.size - j, at);
    }
    return this->distance2(OpenSpace<Lanes>{}, x, other);
  }

  /// Particles of the window within a squared distance.
  ZHALO_HD int count_within(const Lanes& g, const Distances& d, Real r2) const {
    const bool stored = d.window.size <= Scratch::max_window;
    int count = 0;
    for (int j = 0; j < d.window.size; j += Lanes::size) {
      const Lane distances = stored ? g.load(d.scratch.window + j) : window_distance2(g, d, j);
      count += count_bits(g.ballot(distances <= g.broadcast(r2)) & first_bits(d.window.size - j));
    }
    return count;
  }

  /// Halves the bound while it holds enough, then closes in.
  ZHALO_HD Real narrowed(const Lanes& g, const Distances& d, Real most) const {
    const int needed = d.window.needed;
    const int enough = needed + needed / 4;
    Real high = most;
    Real low = 0;
    int count = d.window.size;
    for (int step = 0; count > enough && high > 0 && low == 0; ++step) {
      // As many in one place: halving would go on to the smallest numbers.
      if (step == 8 && count_within(g, d, 0) >= needed) return 0;
      const Real half = high / 2;
      const int inside = count_within(g, d, half);
      if (inside < needed) {
        low = half;
      } else {
        high = half;
        count = inside;
      }
    }
    for (int step = 0; step < 3 && count > enough; ++step) {
      const Real middle = (low + high) / 2;
      const int inside = count_within(g, d, middle);
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

template <class E, class Real>
void find_nearest(const E& exec, const SearchView<Real>& search, Index num_leaves,
                  const BestRows<Real>& rows) {
  for_each_with_lanes(exec, num_leaves, FindNearest<LanesOf<Real>>{search, rows}, LanesOf<Real>{});
}

ZHALO_INSTANTIATE_LANES(find_nearest);

}  // namespace ZHALO_LANES_NAMESPACE
ZHALO_LANES_END
