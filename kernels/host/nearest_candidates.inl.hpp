// The k nearest neighbours for small k on a host, with candidates in the lanes. No include guard:
// compiled once for each vector target.
//
// The common text (kernels/common/knn/few_nearest.inl.hpp) has a query in each lane and puts what
// is near into its place at once. On a host it costs less to look at many particles for one query.
// Those within its bound are compressed into a buffer, without branches, and the buffer is sorted
// at the end. The rows are the same.

HWY_BEFORE_NAMESPACE();
namespace zhalo::kernels::HWY_NAMESPACE {

template <class Lanes, int max_k>
struct CandidateScratch : WalkScratch<typename Lanes::real> {
  using Base = WalkScratch<typename Lanes::real>;
  static constexpr int max_parts = Base::max_leaves * max_leaf_size / Lanes::size;
  static constexpr std::size_t room_for_parts = max_parts + Base::slack;
  static constexpr int max_staged = max_k > 8 ? 128 : 64;

  LocalIndex near_leaves[Base::room_for_leaves];  ///< of those in the list, to one query
  // Parts of these leaves, as many particles as there are lanes, or what is left.
  LocalIndex part_begin[room_for_parts];
  LocalIndex part_left[room_for_parts];  ///< particles from there to the end of the leaf
  LocalIndex part_leaf[room_for_parts];  ///< its place in the list

  NeighbourStage<max_staged, max_k> stage;  ///< particles that a query found
  float lost2[Base::room_for_queries];  ///< of each query: the nearest that was left out although
                                        ///< it was within the bound
};

/// As FindFewNearest: what it finds, which rows it marks as tied, and why equal distances are put
/// in order at the end.
template <class Lanes, int max_k>
struct FindAmongCandidates
    : NeighbourWalk<Lanes, BestRows<float>, FindAmongCandidates<Lanes, max_k>,
                    CandidateScratch<Lanes, max_k>> {
  using Lane = typename Lanes::Lane;
  using Scratch = CandidateScratch<Lanes, max_k>;
  using Base = NeighbourWalk<Lanes, BestRows<float>, FindAmongCandidates, Scratch>;
  using Base::Base;
  using Base::infinity;
  using Base::rows;
  using Base::search;
  using typename Base::Walk;

  void operator()(const Lanes& lanes, Index item, Scratch& s) const {
    Walk walk = this->walk_of(item, s);
    if (walk.num == 0) return;
    for (int first = 0; first < walk.num; first += Lanes::size) bound_queries(lanes, walk, first);
    refine(walk);
    this->start(lanes, walk);
  }

  template <class Metric>
  void visit(const Lanes& lanes, const Metric& metric, Walk& walk) const {
    for (int i = 0; i < walk.num; ++i) visit_query(lanes, metric, walk, i);
  }

  void refine(Walk& walk) const {
    walk.reach2 = -1;
    for (int i = 0; i < walk.num; ++i) walk.reach2 = std::max(walk.reach2, walk.scratch.bound2[i]);
  }

 private:
  static constexpr float largest = std::numeric_limits<float>::max();
  static constexpr std::uint32_t infinity_bits = 0x7f800000;
  static constexpr int window_size = max_k > 32 ? 256 : max_k > 16 ? 192 : max_k > 8 ? 128 : 96;
  using Vector = hn::Vec<hn::ScalableTag<float>>;

  /// One query at work. What it found is staged in scratch memory.
  struct Query {
    Lane x[3];
    float bound2;
    LocalIndex self;  ///< its index among the particles of the tree, if it is left out
    int staged = 0;
    float lost2 = infinity;
  };

  // ---------------------------------------------------------------- bounds

  /// Particles around the queries in Z-order are dealt out to groups. Within the max_k-th smallest
  /// of the distances to the nearest one of each group lie as many. Without images: those are
  /// nearer yet. Here a query is in each lane.
  void bound_queries(const Lanes& lanes, const Walk& walk, int first) const {
    const int num = std::min(walk.num - first, Lanes::size);
    const LocalIndex begin = walk.begin + static_cast<LocalIndex>(first);
    const auto window =
        this->window_around(lanes, walk, begin + static_cast<LocalIndex>(num / 2), window_size);
    Lane x[3];
    this->load_particles(lanes, search.queries, begin, x);
    Vector nearest[std::size_t{groups}];
    ZHALO_UNROLL
    for (int group = 0; group < groups; group += dealt_together)
      find_nearest_of(lanes, x, {window, begin}, group, nearest + group);
    sort_lanes<0, groups>(nearest);
    const Lane bound2 =
        Lanes::min({nearest[max_k - 1]}, lanes.broadcast(std::min(search.reach2, largest)));
    lanes.store(bound2, walk.scratch.bound2 + first);
  }

  static constexpr int groups = 2 * max_k;
  static constexpr int dealt_together = 8;

  struct Window : Base::ParticleWindow {
    LocalIndex first_query;
  };

  /// Of the groups from `group` on.
  ZHALO_LANES_INLINE void find_nearest_of(const Lanes& lanes, const Lane (&x)[3],
                                          const Window& window, int group, Vector* nearest) const {
    Lane min2[std::size_t{dealt_together}];
    for (Lane& min : min2) min = lanes.broadcast(infinity);
    for (int j = group; j < window.size; j += groups) {
      ZHALO_UNROLL
      for (int u = 0; u < dealt_together; ++u) {
        if (j + u >= window.size) continue;
        min2[u] = Lanes::min(min2[u], window_distance2(lanes, x, window, j + u));
      }
    }
    ZHALO_UNROLL
    for (int u = 0; u < dealt_together; ++u) nearest[u] = min2[u].value;
  }

  /// To the j-th particle of a window; infinite from the query itself, if it is left out.
  ZHALO_LANES_INLINE Lane window_distance2(const Lanes& lanes, const Lane (&x)[3],
                                           const Window& window, int j) const {
    const LocalIndex particle = window.begin + static_cast<LocalIndex>(j);
    Lane other[3];
    this->broadcast_particle(lanes, search.tree, particle, other);
    const Lane r2 = squared_distance(OpenSpace<Lanes>{}, x, other);
    const LocalIndex lane = particle - window.first_query;
    if (!search.leave_out_self || lane >= static_cast<LocalIndex>(Lanes::size)) return r2;
    return lanes.select(std::uint64_t{1} << lane, lanes.broadcast(infinity), r2);
  }

  /// As distance2(): signs do not matter to squares.
  template <class Metric>
  ZHALO_LANES_INLINE static Lane squared_distance(const Metric& metric, const Lane (&a)[3],
                                                  const Lane (&b)[3]) {
    if constexpr (Metric::periodic) return Base::distance2(metric, a, b);
    const Lane x = a[0] - b[0];
    const Lane y = a[1] - b[1];
    const Lane z = a[2] - b[2];
    return Lanes::fma(z, z, Lanes::fma(y, y, x * x));
  }

  // --------------------------------------------------------------- queries

  template <class Metric>
  void visit_query(const Lanes& lanes, const Metric& metric, Walk& walk, int i) const {
    Scratch& s = walk.scratch;
    const LocalIndex index = walk.begin + static_cast<LocalIndex>(i);
    Query query;
    this->broadcast_particle(lanes, search.queries, index, query.x);
    query.bound2 = s.bound2[i];
    query.self = search.leave_out_self ? search.first_local_index + index : no_index;
    if (walk.was_visited) read_row(walk, i, query);
    for (int leaf = 0; leaf < walk.num_leaves;) leaf = look_at(lanes, metric, walk, leaf, query);
    keep_nearest(query, s);
    s.bound2[i] = query.bound2;
    s.lost2[i] = query.lost2;
    write_row(walk, i, query);
  }

  /// Looks at those of the listed leaves, from the first on, that are within the query's bound.
  /// Returns where to go on: before the end of the list if the bound came down.
  template <class Metric>
  int look_at(const Lanes& lanes, const Metric& metric, Walk& walk, int first, Query& query) const {
    Scratch& s = walk.scratch;
    const int num = cut_leaves(walk, list_near(lanes, metric, walk, first, query));
    // Copies, which stay in registers: what is written to the stage cannot change them.
    const FindAmongCandidates self = *this;
    const Metric space = metric;
    const Query looking = query;
    int staged = query.staged;
    int part = 0;
    for (; part < num && staged <= last_staged; ++part)
      staged += self.stage_part(lanes, space, s, {part, staged}, looking);
    query.staged = staged;
    if (staged <= last_staged) [[likely]]
      return walk.num_leaves;
    keep_nearest(query, s);
    const LocalIndex leaf = s.part_leaf[part - 1];
    for (; part < num && s.part_leaf[part] == leaf; ++part) {
      query.staged += stage_part(lanes, metric, s, {part, query.staged}, query);
      keep_nearest(query, s);
    }
    forget_work(s, part, num);
    return static_cast<int>(leaf) + 1;
  }

  static constexpr int last_staged = Scratch::max_staged - Lanes::size;  ///< with room for a part

  /// Returns how many there are.
  template <class Metric>
  ZHALO_LANES_INLINE int list_near(const Lanes& lanes, const Metric& metric, Walk& walk, int first,
                                   const Query& query) const {
    const Corners<Lanes> point{{query.x[0], query.x[1], query.x[2]},
                               {query.x[0], query.x[1], query.x[2]}};
    int num = 0;
    for (int l = first; l < walk.num_leaves; l += Lanes::size) {
      const Lane gap2 =
          this->gap2(metric, point, this->listed_boxes(lanes, walk, l), lanes.broadcast(0));
      const std::uint64_t near =
          lanes.ballot(gap2 <= lanes.broadcast(query.bound2)) & first_bits(walk.num_leaves - l);
      lanes.compress_indices(near, static_cast<LocalIndex>(l), walk.scratch.near_leaves + num);
      num += count_bits(near);
    }
    return num;
  }

  static constexpr int usual_parts = 32 / Lanes::size;  ///< most, of usual leaves

  /// Returns how many parts there are. All entries of a usual leaf are written, without branches;
  /// the next leaf writes over those that are not needed.
  ZHALO_LANES_INLINE int cut_leaves(Walk& walk, int num_leaves) const {
    Scratch& s = walk.scratch;
    int num = 0;
    Index particles = 0;
    for (int n = 0; n < num_leaves; ++n) {
      const LocalIndex leaf = s.near_leaves[n];
      const ParticleRun run = this->run_of(s.leaf[leaf]);
      const auto size = static_cast<int>(run.end - run.begin);
      const int num_parts = (size + Lanes::size - 1) / Lanes::size;
      int part = 0;
      do {
        ZHALO_UNROLL
        for (int u = 0; u < usual_parts; ++u, ++part) {
          const auto done = static_cast<LocalIndex>(part * Lanes::size);
          s.part_begin[num + part] = run.begin + done;
          s.part_left[num + part] = run.end - run.begin - done;
          s.part_leaf[num + part] = leaf;
        }
      } while (part < num_parts);
      num += num_parts;
      particles += size;
    }
    s.work.leaves += num_leaves;
    s.work.pairs += particles;
    return num;
  }

  /// The parts [part, num), which begin a leaf, will not be looked at, or not yet.
  void forget_work(Scratch& s, int part, int num) const {
    for (LocalIndex leaf = no_index; part < num; ++part) {
      if (s.part_leaf[part] == leaf) continue;
      leaf = s.part_leaf[part];
      s.work.leaves -= 1;
      s.work.pairs -= s.part_left[part];
    }
  }

  /// A part of a leaf, and how many particles are staged already.
  struct NextPart {
    int part;
    int staged;
  };

  /// Puts what is within the bound behind what is staged, and returns how many these are. All is
  /// written: what is behind them will be overwritten.
  template <class Metric>
  ZHALO_LANES_INLINE int stage_part(const Lanes& lanes, const Metric& metric, Scratch& s,
                                    const NextPart& next, const Query& query) const {
    const LocalIndex begin = s.part_begin[next.part];
    Lane x[3];
    this->load_particles(lanes, search.tree, begin, x);
    const Lane r2 = squared_distance(metric, query.x, x);
    const hn::ScalableTag<float> tag;
    const hn::RebindToUnsigned<decltype(tag)> bits;
    const auto index =
        hn::Add(hn::Iota(bits, 0), hn::Set(bits, search.first_local_index + begin));
    const auto near = hn::And(hn::Le(r2.value, hn::Set(tag, query.bound2)),
                              hn::FirstN(tag, std::size_t{s.part_left[next.part]}));
    const auto within =
        hn::AndNot(hn::Eq(index, hn::Set(bits, query.self)), hn::RebindMask(bits, near));
    hn::StoreU(hn::Compress(hn::BitCast(bits, r2.value), within), bits,
               s.stage.distance_bits + next.staged);
    hn::StoreU(hn::Compress(index, within), bits, s.stage.index + next.staged);
    return static_cast<int>(hn::CountTrue(bits, within));
  }

  // ------------------------------------------------------------- selection

  /// Keeps the k nearest of the staged, in order, and brings the bound down.
  void keep_nearest(Query& query, Scratch& s) const {
    if constexpr (Scratch::max_staged > 64) {
      if (query.staged > 64) return keep_nearest_of<Scratch::max_staged>(query, s);
    }
    if (max_k <= 8 && query.staged <= 16) {
      keep_nearest_of<16>(query, s);
    } else if (max_k < 32 && query.staged <= 32) {
      keep_nearest_of<32>(query, s);
    } else {
      keep_nearest_of<64>(query, s);
    }
  }

  template <int size>
  void keep_nearest_of(Query& query, Scratch& s) const {
    const auto k = static_cast<int>(rows.k);
    s.stage.template keep_nearest<size>(query.staged, k);
    if (query.staged < k) return;
    const float last2 = s.stage.kept_distance2(k - 1);
    if (query.staged > k) query.lost2 = std::min(query.lost2, s.stage.kept_distance2(k));
    query.staged = k;
    // Who lost a neighbour as far as the last one wants nearer ones only from now on: thus many
    // particles in one place cost no more than others.
    query.bound2 = std::min(query.bound2, query.lost2 <= last2 ? below(last2) : last2);
  }

  /// The next smaller number, or a negative one.
  static float below(float distance2) {
    if (distance2 == 0) return -1;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(distance2) - 1);
  }

  // ------------------------------------------------------------------ rows

  void read_row(const Walk& walk, int i, Query& query) const {
    Scratch& s = walk.scratch;
    const Index first = this->row_of(walk, i) * rows.k;
    query.lost2 = s.lost2[i];
    for (; query.staged < rows.k && rows.distance2[first + query.staged] < infinity;
         ++query.staged) {
      s.stage.distance_bits[query.staged] =
          std::bit_cast<std::uint32_t>(rows.distance2[first + query.staged]);
      s.stage.index[query.staged] = rows.local_index[first + query.staged];
    }
  }

  void write_row(const Walk& walk, int i, const Query& query) const {
    const Scratch& s = walk.scratch;
    const Index row = this->row_of(walk, i);
    float* distance2 = rows.distance2 + row * rows.k;
    LocalIndex* index = rows.local_index + row * rows.k;
    for (int n = 0; n < rows.k; ++n) {
      distance2[n] = std::bit_cast<float>(std::min(s.stage.distance_bits[n], infinity_bits));
      index[n] = s.stage.index[n];
    }
    if (walk.height == 0) finish_row(walk, i, query);
  }

  /// Counts a row's neighbours, orders equal distances by global index, and marks it if it is tied.
  void finish_row(const Walk& walk, int i, const Query& query) const {
    const Index row = this->row_of(walk, i);
    const float* distance2 = rows.distance2 + row * rows.k;
    const auto count = static_cast<int>(std::min<Index>(query.staged, rows.k));
    bool equal = false;
    for (int n = 1; n < count; ++n) equal |= distance2[n - 1] == distance2[n];
    if (equal) order_equals(search, rows, row);
    const bool is_tied = count == rows.k && query.lost2 <= distance2[count - 1];
    rows.count[row] = is_tied ? tied_row : static_cast<LocalIndex>(count);
  }
};

template <int max_k>
void find_among_candidates(const Host& exec, const SearchView<float>& search, Index num_leaves,
                           const BestRows<float>& rows) {
  using Lanes = SimdLanes<float>;
  for_each_with_lanes(exec, num_leaves, FindAmongCandidates<Lanes, max_k>{search, rows}, Lanes{});
}

inline constexpr Index max_k_among_candidates = 64;

inline void find_among_candidates(const Host& exec, const SearchView<float>& search,
                                  Index num_leaves, const BestRows<float>& rows) {
  if (rows.k <= 8) return find_among_candidates<8>(exec, search, num_leaves, rows);
  if (rows.k <= 16) return find_among_candidates<16>(exec, search, num_leaves, rows);
  if (rows.k <= 32) return find_among_candidates<32>(exec, search, num_leaves, rows);
  find_among_candidates<max_k_among_candidates>(exec, search, num_leaves, rows);
}

}  // namespace zhalo::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
