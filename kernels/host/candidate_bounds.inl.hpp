// Memory and first bounds of queries, for FindAmongCandidates. No include guard: compiled
// once for each vector target.

HWY_BEFORE_NAMESPACE();
namespace zhalo::kernels::HWY_NAMESPACE {

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
  LocalIndex part_leaf[room_for_parts];  ///< its place in the list

  NeighbourStage<max_staged, max_k> stage;  ///< particles that a query found
  float lost2[Base::room_for_queries];  ///< of each query: the nearest that was left out although
                                        ///< it was within the bound
};

/// What a search among candidates begins with: how far each query has to look.
template <class Lanes, int max_k, class Derived>
struct CandidateBounds
    : NeighbourWalk<Lanes, BestRows<float>, Derived, CandidateScratch<Lanes, max_k>> {
  using Lane = typename Lanes::Lane;
  using Scratch = CandidateScratch<Lanes, max_k>;
  using Base = NeighbourWalk<Lanes, BestRows<float>, Derived, Scratch>;
  using Base::Base;
  using Base::infinity;
  using Base::search;
  using typename Base::Walk;

 protected:
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
};

}  // namespace zhalo::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
