// The k nearest neighbours for small k on a host, with candidates in the lanes. No include guard:
// compiled once for each vector target.
//
// The common text (kernels/common/knn/few_nearest.inl.hpp) has a query in each lane and inserts
// what is near in order at once. On a host it costs less to look at many particles for one query.
// Those within its bound are compressed into a buffer, without branches, and the buffer is sorted
// at the end. The rows are the same.

HWY_BEFORE_NAMESPACE();
namespace zhalo::kernels::HWY_NAMESPACE {

/// As FindFewNearest: what it finds, which rows it marks as tied, and why equal distances are put
/// in order at the end.
template <class Lanes, int max_k>
struct FindAmongCandidates : CandidateBounds<Lanes, max_k, FindAmongCandidates<Lanes, max_k>> {
  using Base = CandidateBounds<Lanes, max_k, FindAmongCandidates>;
  using Base::Base;
  using Base::infinity;
  using Base::rows;
  using Base::search;
  using Base::squared_distance;
  using typename Base::Lane;
  using typename Base::Scratch;
  using typename Base::Walk;

  void operator()(const Lanes& lanes, Index item, Scratch& s) const {
    Walk walk = this->walk_of(item, s);
    if (walk.num == 0) return;
    this->find_bounds(lanes, walk, [this, &lanes](const auto& metric, Walk& of) {
      for (int first = 0; first < of.num; first += Lanes::size)
        this->bound_queries(lanes, metric, of, first);
      refine(of);
    });
    this->start(lanes, walk);
  }

  template <class Metric>
  void visit(const Lanes& lanes, const Metric& metric, Walk& walk) const {
    const int num_direct = divides_leaves<Metric> ? put_direct_first(walk) : 0;
    for (int i = 0; i < walk.num; ++i) visit_query(lanes, metric, walk, num_direct, i);
  }

  void refine(Walk& walk) const {
    walk.reach2 = -1;
    for (int i = 0; i < walk.num; ++i) walk.reach2 = std::max(walk.reach2, walk.scratch.bound2[i]);
  }

 private:
  static constexpr std::uint32_t infinity_bits = 0x7f800000;

  /// One query at work. What it found is staged in scratch memory.
  struct Query {
    Lane x[3];
    float bound2;
    LocalIndex self;  ///< its index among the particles of the tree, if it is left out
    int staged = 0;
    float lost2 = infinity;
  };

  // --------------------------------------------------------------- queries

  /// Near an edge, too, most leaves are on the same side of it as the queries. Where few candidates
  /// are looked at, dividing the list costs more than images.
  template <class Metric>
  static constexpr bool divides_leaves = max_k > 16 && Metric::periodic;

  /// Some of the leaves in the walk's list.
  struct ListedLeaves {
    int first;
    int end;
  };

  /// Puts leaves first whose particles have no image that is nearer to a query than they are.
  /// Returns how many these are.
  int put_direct_first(Walk& walk) const {
    int num = 0;
    for (int l = 0; l < walk.num_leaves; ++l)
      if (is_direct(walk, l)) swap_leaves(walk.scratch, l, num++);
    return num;
  }

  /// Whether the leaf and the queries together take no more than half a period.
  bool is_direct(const Walk& walk, int l) const {
    const Scratch& s = walk.scratch;
    const auto& boxes = search.queries.boxes;
    bool direct = true;
    for (int axis = 0; axis < 3; ++axis) {
      const float lo = std::min(s.lo[axis][l], boxes.lo[axis][walk.leaf]);
      const float hi = std::max(s.hi[axis][l], boxes.hi[axis][walk.leaf]);
      direct = direct && hi - lo <= search.period[axis] / 2;
    }
    return direct;
  }

  static void swap_leaves(Scratch& s, int a, int b) {
    std::swap(s.leaf[a], s.leaf[b]);
    for (int axis = 0; axis < 3; ++axis) {
      std::swap(s.lo[axis][a], s.lo[axis][b]);
      std::swap(s.hi[axis][a], s.hi[axis][b]);
    }
  }

  /// Looks at all leaves of the list, of which the first `num_direct` need no images.
  template <class Metric>
  void visit_query(const Lanes& lanes, const Metric& metric, Walk& walk, int num_direct,
                   int i) const {
    Scratch& s = walk.scratch;
    const LocalIndex index = walk.begin + static_cast<LocalIndex>(i);
    Query query;
    this->broadcast_particle(lanes, search.queries, index, query.x);
    query.bound2 = s.bound2[i];
    query.self = search.leave_out_self ? search.first_local_index + index : no_index;
    if (walk.was_visited) read_row(walk, i, query);
    if constexpr (divides_leaves<Metric>)
      look_at_all(lanes, OpenSpace<Lanes>{}, walk, {0, num_direct}, query);
    look_at_all(lanes, metric, walk, {num_direct, walk.num_leaves}, query);
    keep_nearest(query, s);
    s.bound2[i] = query.bound2;
    s.lost2[i] = query.lost2;
    write_row(walk, i, query);
  }

  template <class Metric>
  void look_at_all(const Lanes& lanes, const Metric& metric, Walk& walk, ListedLeaves leaves,
                   Query& query) const {
    while (leaves.first < leaves.end) leaves.first = look_at(lanes, metric, walk, leaves, query);
  }

  /// Looks at those of some leaves that are within the query's bound. Returns where to go on:
  /// before their end if the bound came down.
  template <class Metric>
  int look_at(const Lanes& lanes, const Metric& metric, Walk& walk, const ListedLeaves& leaves,
              Query& query) const {
    Scratch& s = walk.scratch;
    const int num = cut_leaves(walk, list_near(lanes, metric, walk, leaves, query));
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
      return leaves.end;
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
  ZHALO_LANES_INLINE int list_near(const Lanes& lanes, const Metric& metric, Walk& walk,
                                   const ListedLeaves& leaves, const Query& query) const {
    const Corners<Lanes> point{{query.x[0], query.x[1], query.x[2]},
                               {query.x[0], query.x[1], query.x[2]}};
    int num = 0;
    for (int l = leaves.first; l < leaves.end; l += Lanes::size) {
      const Lane gap2 =
          this->gap2(metric, point, this->listed_boxes(lanes, walk, l), lanes.broadcast(0));
      const std::uint64_t near =
          lanes.ballot(gap2 <= lanes.broadcast(query.bound2)) & first_bits(leaves.end - l);
      lanes.compress_indices(near, static_cast<LocalIndex>(l), walk.scratch.near_leaves + num);
      num += count_bits(near);
    }
    return num;
  }

  static constexpr std::size_t usual_parts = 32 / Lanes::size;  ///< most, of usual leaves

  /// Returns how many parts there are. All entries of a usual leaf are written, without branches;
  /// the next leaf writes over those that are not needed.
  ZHALO_LANES_INLINE int cut_leaves(Walk& walk, int num_leaves) const {
    Scratch& s = walk.scratch;
    const hn::CappedTag<LocalIndex, usual_parts> few;
    const auto stride = hn::Set(few, LocalIndex{Lanes::size});
    const auto offset = hn::Mul(hn::Iota(few, 0), stride);
    const auto step = hn::Mul(hn::Set(few, static_cast<LocalIndex>(hn::Lanes(few))), stride);
    int num = 0;
    Index particles = 0;
    for (int n = 0; n < num_leaves; ++n) {
      const LocalIndex leaf = s.near_leaves[n];
      const ParticleRun run = this->run_of(s.leaf[leaf]);
      const auto size = static_cast<int>(run.end - run.begin);
      const int num_parts = (size + Lanes::size - 1) / Lanes::size;
      auto begin = hn::Add(hn::Set(few, run.begin), offset);
      auto left = hn::Sub(hn::Set(few, run.end - run.begin), offset);
      int part = num;
      do {
        hn::StoreU(begin, few, s.part_begin + part);
        hn::StoreU(left, few, s.part_left + part);
        hn::StoreU(hn::Set(few, leaf), few, s.part_leaf + part);
        begin = hn::Add(begin, step);
        left = hn::Sub(left, step);
        part += static_cast<int>(hn::Lanes(few));
      } while (part < num + num_parts);
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
    const auto index = hn::Add(hn::Iota(bits, 0), hn::Set(bits, search.first_local_index + begin));
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
    // particles at one position cost no more than others.
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
    if (walk.scratch.stage.has_equals(count)) order_equals(search, rows, row);
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
