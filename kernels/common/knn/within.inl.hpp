// All neighbours within a radius, for any Lanes. No include guard: compiled once for each kind
// of Lanes.

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
  using typename Base::Scratch;
  using typename Base::Walk;
  static constexpr int warps_at_once = 24;  ///< on a multiprocessor

  ZHALO_HD void operator()(const Lanes& lanes, Index item, Scratch& s) const {
    Walk walk = this->walk_of(item, s);
    if (walk.num == 0) return;
    refine(walk);
    this->start(lanes, walk);
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

}  // namespace ZHALO_LANES_NAMESPACE
ZHALO_LANES_END
