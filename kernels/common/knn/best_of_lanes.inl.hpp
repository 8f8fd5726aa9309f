// The best of the query in each lane, for any Lanes. No include guard: compiled once for each kind
// of Lanes.

ZHALO_LANES_BEGIN
namespace ZHALO_LANES_NAMESPACE {

/// The max_k best of the query in each lane, ascending. For k < max_k the first ones are -infinity
/// and stay, so that the last one is always the k-th best. Indices are bits of a Real.
template <class Lanes, int max_k>
struct BestOfLanes {
  using Lane = typename Lanes::Lane;
  static constexpr auto infinity = std::numeric_limits<typename Lanes::real>::infinity();

  Lane distance2[std::size_t{max_k}];
  Lane index[std::size_t{max_k}];
  Lane lost2;  ///< the nearest that was left out although it was within the bound

  ZHALO_HD void clear(const Lanes& lanes, int k) {
    lost2 = lanes.broadcast(infinity);
    ZHALO_UNROLL
    for (int u = 0; u < max_k; ++u) {
      distance2[u] = lanes.broadcast(u < max_k - k ? -infinity : infinity);
      index[u] = lanes.broadcast_index(no_index);
    }
  }

  /// Puts r2 into its place; of equal ones behind the others. Infinity changes nothing.
  ZHALO_HD void insert(const Lanes& lanes, Lane r2, Lane at) {
    lost2 = Lanes::min(lost2, Lanes::max(r2, distance2[max_k - 1]));
    insert_from<max_k>(lanes, r2, at);
  }

 private:
  static constexpr int part = 8;

  /// From the back, as long as any lane has something to move.
  template <int end>
  ZHALO_HD void insert_from(const Lanes& lanes, Lane r2, Lane at) {
    constexpr int begin = end > part ? end - part : 0;
    ZHALO_UNROLL
    for (int u = end - 1; u > begin; --u) move_up(lanes, u, r2, at);
    if constexpr (begin > 0) {
      const bool ends = lanes.ballot(distance2[begin - 1] <= r2) == first_bits(Lanes::size);
      move_up(lanes, begin, r2, at);
      if (!ends) insert_from<begin>(lanes, r2, at);
    } else {
      index[0] = lanes.select(distance2[0] <= r2, index[0], at);
      distance2[0] = Lanes::min(r2, distance2[0]);
    }
  }

  /// Element u becomes r2, if that belongs there, or the one before, or stays.
  ZHALO_HD void move_up(const Lanes& lanes, int u, Lane r2, Lane at) {
    const Lane from_below = lanes.select(distance2[u - 1] <= r2, at, index[u - 1]);
    index[u] = lanes.select(distance2[u] <= r2, index[u], from_below);
    distance2[u] = Lanes::max(distance2[u - 1], Lanes::min(r2, distance2[u]));
  }
};

}  // namespace ZHALO_LANES_NAMESPACE
ZHALO_LANES_END
