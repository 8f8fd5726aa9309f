// Neighbours that a query found and the nearest of them, and first bounds of queries, for
// FindAmongCandidates. No include guard: compiled once for each vector target.
HWY_BEFORE_NAMESPACE();
namespace zhalo::kernels::HWY_NAMESPACE {

/// Room for `max_staged` neighbours in any order, of which up to `max_kept` are kept in order.
template <int max_staged, int max_kept>
struct NeighbourStage {
  /// Vectors are written whole.
  static constexpr std::size_t room = max_staged + WalkScratch<float>::slack;

  std::uint32_t distance_bits[room];
  LocalIndex index[room];

  /// Puts the k nearest of the first `num` and the next one in order, to the front.
  /// Writes up to `size` elements.
  template <int size>
  void keep_nearest(int num, int k) {
    const auto step = static_cast<int>(hn::MaxLanes(tag));
    for (int i = num; i < size; i += step) {
      hn::StoreU(hn::Set(tag, static_cast<std::uint32_t>(no_key >> 32)), tag, distance_bits + i);
      hn::StoreU(hn::Set(tag, no_index), tag, index + i);
    }
    KeySorter<ShortNeighbourKey, size> sorter;
    sorter.load(distance_bits);
    sorter.sort();
    // Short keys tell distances apart, unless some are equal, in all but one of some hundred
    // queries.
    may_have_equals_ = !sorter.tells_apart(std::min(num, k + 1));
    if (may_have_equals_) {
      sort_by_whole_keys<size>();
    } else {
      put_in_order(sorter);
    }
  }

  /// Of the i-th nearest after keep_nearest(); i up to k.
  float kept_distance2(int i) const { return std::bit_cast<float>(distance_bits[i]); }

  /// Whether two of the first `num` are equally far after keep_nearest(); num up to k.
  bool has_equals(int num) const {
    if (!may_have_equals_) return false;
    for (int i = 1; i < num; ++i)
      if (distance_bits[i - 1] == distance_bits[i]) return true;
    return false;
  }

 private:
  static constexpr hn::ScalableTag<std::uint32_t> tag{};
  template <int size>
  static constexpr int num_sorted = std::min(max_kept + 1, size);

  template <int size>
  HWY_INLINE void put_in_order(const KeySorter<ShortNeighbourKey, size>& sorter) {
    using Sorter = KeySorter<ShortNeighbourKey, size>;
    using Bits = hn::Vec<hn::ScalableTag<std::uint32_t>>;
    Bits all_bits[std::size_t{Sorter::num_rows}];
    Bits all_index[std::size_t{Sorter::num_rows}];
    ZHALO_UNROLL
    for (int row = 0; row < Sorter::num_rows; ++row) {
      all_bits[row] = hn::LoadU(tag, distance_bits + row * Sorter::num_columns);
      all_index[row] = hn::LoadU(tag, index + row * Sorter::num_columns);
    }
    ZHALO_UNROLL
    for (int i = 0; i < num_sorted<size>; i += Sorter::num_columns) {
      const auto from = hn::And(sorter.in_order(i), hn::Set(tag, ShortNeighbourKey{size - 1}));
      hn::StoreU(look_up<Sorter::num_rows>(all_bits, from), tag, distance_bits + i);
      hn::StoreU(look_up<Sorter::num_rows>(all_index, from), tag, index + i);
    }
  }

  template <int size>
  void sort_by_whole_keys() {
    using Sorter = KeySorter<NeighbourKey, size>;
    alignas(64) NeighbourKey keys[std::size_t{size}];
    Sorter sorter;
    sorter.load(distance_bits, index);
    sorter.sort();
    sorter.store(keys);
    ZHALO_UNROLL
    for (int i = 0; i < num_sorted<size>; ++i) {
      const NeighbourKey key = keys[Sorter::index_of(i)];
      distance_bits[i] = static_cast<std::uint32_t>(key >> 32);
      index[i] = static_cast<LocalIndex>(key);
    }
  }

  bool may_have_equals_ = false;
};

/// Memory of one walk: what its queries look at, and what one of them found.
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
  LocalIndex part_leaf[room_for_parts];  ///< its index in the list

  NeighbourStage<max_staged, max_k> stage;  ///< particles that a query found
  float lost2[Base::room_for_queries];  ///< of each query: the nearest that was left out although
                                        ///< it was within the bound
};

/// What a search among candidates begins with: how far each query has to look.
template <class Lanes, int max_k, class Derived>
struct CandidateBounds
    : BoundedWalk<Lanes, BestRows<float>, Derived, CandidateScratch<Lanes, max_k>> {
  using Lane = typename Lanes::Lane;
  using Scratch = CandidateScratch<Lanes, max_k>;
  using Base = BoundedWalk<Lanes, BestRows<float>, Derived, Scratch>;
  using Base::Base;
  using Base::infinity;
  using Base::search;
  using typename Base::Walk;

 protected:
  /// Particles around the queries in Z-order are dealt out to groups. Within the max_k-th smallest
  /// of the distances to the nearest one of each group lie as many. Here a query is in each lane.
  template <class Metric>
  void bound_queries(const Lanes& lanes, const Metric& metric, const Walk& walk, int first) const {
    const int num = std::min(walk.num - first, Lanes::size);
    const LocalIndex begin = walk.begin + static_cast<LocalIndex>(first);
    Window window{this->window_around(lanes, metric, walk, begin + static_cast<LocalIndex>(num / 2),
                                      window_size),
                  begin,
                  {}};
    this->load_particles(lanes, search.queries, begin, window.queries);
    Vector nearest[std::size_t{groups}];
    ZHALO_UNROLL
    for (int group = 0; group < groups; group += dealt_together)
      find_nearest_of(lanes, metric, window, group, nearest + group);
    sort_lanes<0, groups>(nearest);
    const Lane bound2 =
        Lanes::min({nearest[max_k - 1]}, lanes.broadcast(std::min(search.reach2, largest)));
    lanes.store(bound2, walk.scratch.bound2 + first);
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

 private:
  static constexpr float largest = std::numeric_limits<float>::max();
  static constexpr int window_size = max_k > 32 ? 256 : max_k > 16 ? 192 : max_k > 8 ? 128 : 96;
  using Vector = hn::Vec<hn::ScalableTag<float>>;

  static constexpr int groups = 2 * max_k;
  static constexpr int dealt_together = 8;

  struct Window : Base::ParticleWindow {
    LocalIndex first_query;
    Lane queries[3];
  };

  /// Of the groups from `group` on.
  template <class Metric>
  ZHALO_LANES_INLINE void find_nearest_of(const Lanes& lanes, const Metric& metric,
                                          const Window& window, int group, Vector* nearest) const {
    Lane min2[std::size_t{dealt_together}];
    for (Lane& min : min2) min = lanes.broadcast(infinity);
    for (int j = group; j < window.size; j += groups) {
      ZHALO_UNROLL
      for (int u = 0; u < dealt_together; ++u) {
        if (j + u >= window.size) continue;
        min2[u] = Lanes::min(min2[u], window_distance2(lanes, metric, window, j + u));
      }
    }
    ZHALO_UNROLL
    for (int u = 0; u < dealt_together; ++u) nearest[u] = min2[u].value;
  }

  /// To the j-th particle of a window; infinite from the query itself, if it is left out.
  template <class Metric>
  ZHALO_LANES_INLINE Lane window_distance2(const Lanes& lanes, const Metric& metric,
                                           const Window& window, int j) const {
    const LocalIndex particle = window.begin + static_cast<LocalIndex>(j);
    Lane other[3];
    this->broadcast_particle(lanes, search.tree, particle, other);
    const Lane r2 = squared_distance(metric, window.queries, other);
    const LocalIndex lane = particle - window.first_query;
    if (!search.leave_out_self || lane >= static_cast<LocalIndex>(Lanes::size)) return r2;
    return lanes.select(std::uint64_t{1} << lane, lanes.broadcast(infinity), r2);
  }
};

}  // namespace zhalo::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
