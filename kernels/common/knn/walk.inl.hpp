// The walk of one leaf of queries through a tree, for any Lanes: what all searches for neighbours
// share. No include guard: compiled once for each kind of Lanes.

ZHALO_LANES_BEGIN
namespace ZHALO_LANES_NAMESPACE {

/// Memory of one group: the walk's stack, the leaves that are near, and how far each query reaches.
/// Compressed stores of hosts write a whole vector: they need `slack`. Threads have little memory.
template <class RealType, int num_listed = 128, int slack_elements = 32>
struct WalkScratch {
  using Real = RealType;
  static constexpr int max_stack = 288;
  static constexpr int max_leaves = num_listed;
  static constexpr int slack = slack_elements;
  static constexpr std::size_t room_for_leaves = max_leaves + slack;
  static constexpr std::size_t room_for_queries = max_leaf_size + slack;

  std::uint32_t stack[max_stack];
  LocalIndex leaf[room_for_leaves];
  Real lo[3][room_for_leaves];
  Real hi[3][room_for_leaves];
  Real bound2[room_for_queries];  ///< of each query: neighbours further away are of no use
  SearchWork work;
};

/// What one query at a time needs besides: particles that were found.
template <class RealType>
struct StageScratch : WalkScratch<RealType> {
  using Real = RealType;
  static constexpr int max_staged = 128;
  static constexpr std::size_t room_for_staged = max_staged + WalkScratch<Real>::slack;

  Real staged2[room_for_staged];
  LocalIndex staged[room_for_staged];
};

/// And where the nearest are wanted: their order.
template <class RealType>
struct NeighbourScratch : StageScratch<RealType> {
  using Real = RealType;
  using StageScratch<Real>::max_staged;
  static constexpr int max_window = 256;
  static constexpr int max_short_row = 128;
  static constexpr std::size_t room_for_window = max_window + WalkScratch<Real>::slack;

  Real window[room_for_window];  ///< distances, before the walk; ranks in their order, later
  Real sorted2[max_staged];
  LocalIndex sorted[max_staged];
  // The row of one query, and room to merge it into.
  Real row2[2][max_short_row];
  LocalIndex row[2][max_short_row];
  Index bound_index[max_leaf_size];  ///< of each query: nor are those just as far whose global
                                     ///< index is above this
};

/// One query at work.
template <class Lanes>
struct QueryState {
  typename Lanes::Lane x[3];
  typename Lanes::real bound2;
  Index bound_index;
  LocalIndex self;  ///< its index among the particles of the tree, if it is left out
  Index row;
  LocalIndex found;  ///< in the row
  int staged = 0;    ///< in the scratch memory
};

/// Particles that were found, one per lane whose bit is set: `first` and those behind it.
template <class Lanes>
struct FoundLanes {
  std::uint64_t lane_bits;
  typename Lanes::Lane r2;
  LocalIndex first;
};

struct ParticleRun {
  LocalIndex begin;
  LocalIndex end;
};

/// A search: Derived says what each query does with the leaves that are near, and Rows take what it
/// finds.
///
///   visit(g, metric, walk)      looks at the leaves of the walk for all queries of the leaf, or
///   visit_query(g, metric, walk, i)
///                               for query i of the leaf
///   refine(walk)                says anew how far any query of the leaf reaches
///   without_whole(g, metric, pair, near, walk)
///                               if `takes_whole_nodes`: nodes that are near but need no visit are
///                               taken as they are; returns the others
template <class Lanes, class Rows, class Derived,
          class ScratchType = NeighbourScratch<typename Lanes::real>>
struct NeighbourWalk : TreeLanes<Lanes> {
  using Base = TreeLanes<Lanes>;
  using typename Base::Lane;
  using typename Base::Real;
  using typename Base::Siblings;
  using Scratch = ScratchType;

  SearchView<Real> search;
  Rows rows;

  NeighbourWalk(const SearchView<Real>& view, const Rows& results) : search(view), rows(results) {}

 protected:
  static constexpr Real infinity = std::numeric_limits<Real>::infinity();
  static constexpr Index any_index = static_cast<Index>(~std::uint64_t{0} >> 1);
  static constexpr bool takes_whole_nodes = false;

  /// The box of a leaf of queries, and those of nodes, one per lane: `first` and those behind it.
  struct LeafAndNodes {
    const Corners<Lanes>& leaf;
    const Corners<Lanes>& nodes;
    Siblings first;
  };

  /// One leaf of queries, how far the furthest of them reaches, and where the walk is.
  struct Walk {
    LocalIndex leaf;
    LocalIndex begin;
    int num;
    Scratch& scratch;
    Real reach2 = 0;
    Index reach_index = any_index;
    int height = 0;
    int num_leaves = 0;
    bool was_visited = false;
    LocalIndex num_whole = 0;  ///< particles of nodes that were taken whole
  };

  ZHALO_HD const Derived& derived() const { return static_cast<const Derived&>(*this); }

  ZHALO_HD Walk walk_of(Index item, Scratch& s) const {
    const auto leaf = static_cast<LocalIndex>(search.first_leaf + item);
    const LocalIndex begin = search.queries.leaf_begin[leaf];
    return {leaf, begin, static_cast<int>(search.queries.leaf_end[leaf] - begin), s};
  }

  ZHALO_HD Index row_of(const Walk& walk, int i) const {
    return Index{walk.begin} + i - search.first_query;
  }

  /// Query i of the leaf, with the bounds beyond which neighbours are of no use.
  ZHALO_HD QueryState<Lanes> state_of(const Lanes& lanes, const Walk& walk, int i, Real bound2,
                                      Index bound_index) const {
    const LocalIndex index = walk.begin + static_cast<LocalIndex>(i);
    QueryState<Lanes> query;
    this->broadcast_particle(lanes, search.queries, index, query.x);
    query.bound2 = bound2;
    query.bound_index = bound_index;
    query.self = search.leave_out_self ? index : no_index;
    query.row = row_of(walk, i);
    query.found = rows.count[query.row];
    return query;
  }

  ZHALO_HD ParticleRun run_of(LocalIndex leaf) const {
    return {search.tree.leaf_begin[leaf], search.tree.leaf_end[leaf]};
  }

  template <class Metric>
  ZHALO_HD void visit(const Lanes& lanes, const Metric& metric, Walk& walk) const {
    for (int i = 0; i < walk.num; ++i) derived().visit_query(lanes, metric, walk, i);
  }

  /// Walks with the metric that the leaf needs. The reach of the walk must be known.
  ZHALO_HD void start(const Lanes& lanes, Walk& walk) const {
    lanes.one([&] { walk.scratch.work = {}; });
    if (crosses_edge(walk)) {
      run(lanes, PeriodicSpace<Lanes>(lanes, search.period), walk);
    } else {
      run(lanes, OpenSpace<Lanes>{}, walk);
    }
    lanes.one([&] {
      if (search.work == nullptr) return;
      atomic_add(search.work->leaves, walk.scratch.work.leaves);
      atomic_add(search.work->pairs, walk.scratch.work.pairs);
    });
  }

  /// Counts what queries look at: each of them all particles of a leaf.
  ZHALO_HD static void count_leaf(const Lanes& lanes, int num_queries, ParticleRun leaf,
                                  Scratch& s) {
    lanes.one([&] {
      s.work.leaves += num_queries;
      s.work.pairs += Index{num_queries} * (leaf.end - leaf.begin);
    });
  }

  /// Whether an image of any particle may be within reach. The margin is far beyond what rounding
  /// does.
  ZHALO_HD bool crosses_edge(const Walk& walk) const {
    const Real reach = static_cast<Real>(sqrt(walk.reach2)) * static_cast<Real>(1.001);
    bool crosses = false;
    for (int axis = 0; axis < 3; ++axis) {
      const Real lo = search.queries.boxes.lo[axis][walk.leaf] - search.edge_lo[axis];
      const Real hi = search.edge_hi[axis] - search.queries.boxes.hi[axis][walk.leaf];
      crosses = crosses || !(lo > reach && hi > reach);
    }
    return crosses;
  }

 private:
  template <class Metric>
  ZHALO_HD void run(const Lanes& lanes, const Metric& metric, Walk& walk) const {
    // The top level is one node's worth of children: it is expanded as if a node 0 lay above.
    this->push(lanes, walk, search.tree.num_levels, 0);
    // One call visits, so that the text of visiting is compiled in once.
    while (true) {
      if (walk.height == 0 || walk.num_leaves + search.tree.fanout > Scratch::max_leaves) {
        lanes.sync();
        derived().visit(lanes, metric, walk);
        walk.was_visited = true;
        lanes.sync();
        if (walk.height == 0) return;
        walk.num_leaves = 0;
        derived().refine(walk);
      }
      expand(lanes, metric, this->pop(lanes, walk, search.tree), walk);
    }
  }

  /// Puts the children within reach onto the stack, the first on top: equal positions are found in
  /// the order of their indices. Leaves go into the list.
  template <class Metric>
  ZHALO_HD void expand(const Lanes& lanes, const Metric& metric, const Siblings& siblings,
                       Walk& walk) const {
    Corners<Lanes> box;  // loaded again each time: on a device, registers are dearer
    this->broadcast_box(lanes, search.queries, walk.leaf, box);
    const Index first = search.tree.level_first[siblings.level] + siblings.first;
    std::uint64_t all_near = 0;
    for (int j = 0; j < search.tree.fanout; j += Lanes::size) {
      Corners<Lanes> other;
      this->load_boxes(lanes, search.tree, first + j, other);
      const Lane r2 = this->gap2(metric, box, other, lanes.broadcast(0));
      std::uint64_t near =
          lanes.ballot(r2 <= lanes.broadcast(walk.reach2)) & first_bits(search.tree.fanout - j);
      if (Metric::periodic)
        near &= lanes.ballot(other.lo[0] <= other.hi[0]);  // an image of an empty box is not far
      near = without_later(lanes, near, r2, first + j, walk);
      if constexpr (Derived::takes_whole_nodes) {
        const LeafAndNodes pair{box, other, {siblings.level, siblings.first + j}};
        near = derived().without_whole(lanes, metric, pair, near, walk);
      }
      if (siblings.level == 0) {
        list_leaves(lanes, near, other, siblings.first + j, walk);
      } else {
        all_near |= near << j;
      }
    }
    while (all_near != 0) {
      const int last = highest_bit(all_near);
      all_near &= ~(std::uint64_t{1} << last);
      this->push(lanes, walk, siblings.level, siblings.first + last);
    }
  }

  /// Of nodes that are just as far as the reach, those whose indices all come too late are of no
  /// use. Thus many equal distances, of equal positions above all, cost no more than others.
  ZHALO_HD std::uint64_t without_later(const Lanes& lanes, std::uint64_t near, Lane r2, Index first,
                                       const Walk& walk) const {
    if (near == 0 || walk.reach_index == any_index) return near;
    std::uint64_t equal = near & lanes.ballot(lanes.broadcast(walk.reach2) <= r2);
    for (; equal != 0; equal &= equal - 1) {
      if (search.smallest_index[first + lowest_bit(equal)] > walk.reach_index)
        near &= ~(equal & ~(equal - 1));
    }
    return near;
  }

  ZHALO_HD void list_leaves(const Lanes& lanes, std::uint64_t near, const Corners<Lanes>& box,
                            Index first, Walk& walk) const {
    Scratch& s = walk.scratch;
    lanes.compress_indices(near, static_cast<LocalIndex>(first), s.leaf + walk.num_leaves);
    for (int axis = 0; axis < 3; ++axis) {
      lanes.compress(near, box.lo[axis], s.lo[axis] + walk.num_leaves);
      lanes.compress(near, box.hi[axis], s.hi[axis] + walk.num_leaves);
    }
    walk.num_leaves += count_bits(near);
  }

 protected:
  /// Boxes of the listed leaves from `l` on, one per lane.
  ZHALO_HD static Corners<Lanes> listed_boxes(const Lanes& lanes, const Walk& walk, int l) {
    Corners<Lanes> box;
    for (int axis = 0; axis < 3; ++axis) {
      box.lo[axis] = lanes.load(walk.scratch.lo[axis] + l);
      box.hi[axis] = lanes.load(walk.scratch.hi[axis] + l);
    }
    return box;
  }

  /// Which of the listed leaves from `l` on, one per lane, are of use to a query.
  template <class Metric>
  ZHALO_HD std::uint64_t leaves_of_use(const Lanes& lanes, const Metric& metric, const Walk& walk,
                                       int l, const QueryState<Lanes>& query) const {
    const Scratch& s = walk.scratch;
    const Corners<Lanes> box = listed_boxes(lanes, walk, l);
    const Corners<Lanes> point{{query.x[0], query.x[1], query.x[2]},
                               {query.x[0], query.x[1], query.x[2]}};
    const Lane r2 = this->gap2(metric, point, box, lanes.broadcast(0));
    std::uint64_t near =
        lanes.ballot(r2 <= lanes.broadcast(query.bound2)) & first_bits(walk.num_leaves - l);
    if (near == 0 || query.bound_index == any_index) return near;
    std::uint64_t equal = near & lanes.ballot(lanes.broadcast(query.bound2) <= r2);
    for (; equal != 0; equal &= equal - 1) {
      if (search.smallest_index[s.leaf[l + lowest_bit(equal)]] > query.bound_index)
        near &= ~(equal & ~(equal - 1));
    }
    return near;
  }

  /// Calls found(FoundLanes) for the particles [begin, end) of the tree, so many at a time as there
  /// are lanes; a bit per particle that is within the query's bound.
  template <class Metric, class Found>
  ZHALO_HD void test_particles(const Lanes& lanes, const Metric& metric,
                               const QueryState<Lanes>& query, const ParticleRun& run,
                               Found found) const {
    for (LocalIndex j = run.begin; j < run.end; j += Lanes::size) {
      Lane x[3];
      this->load_some(lanes, search.tree, j, run.end - j, x);
      const Lane r2 = this->distance2(metric, query.x, x);
      std::uint64_t near =
          lanes.ballot(r2 <= lanes.broadcast(query.bound2)) & first_bits(Index{run.end} - j);
      const LocalIndex self = query.self - j;
      if (self < static_cast<LocalIndex>(Lanes::size)) near &= ~(std::uint64_t{1} << self);
      found(FoundLanes<Lanes>{near, r2, j});
    }
  }
};

}  // namespace ZHALO_LANES_NAMESPACE
ZHALO_LANES_END
