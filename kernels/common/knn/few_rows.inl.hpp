// The few nearest of the query in each lane, and their rows from lanes to memory and back, for any
// Lanes. No include guard: compiled once for each kind of Lanes.
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

  /// Inserts r2 in order; of equal ones behind the others. Infinity changes nothing.
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

/// Where a row has no neighbour.
template <class Real>
inline constexpr Real no_distance2 = std::numeric_limits<Real>::infinity();

/// Orders a row's equal distances by global index.
template <class Real>
ZHALO_HD void order_equals(const SearchView<Real>& search, const BestRows<Real>& rows, Index row) {
  const Real* distance2 = rows.distance2 + row * rows.k;
  LocalIndex* index = rows.local_index + row * rows.k;
  for (Index i = 1; i < rows.k && distance2[i] < no_distance2<Real>; ++i) {
    const LocalIndex moved = index[i];
    Index at = i;
    for (; at > 0 && distance2[at - 1] == distance2[i] &&
           search.global_index[moved] < search.global_index[index[at - 1]];
         --at)
      index[at] = index[at - 1];
    if (at != i) index[at] = moved;
  }
}

template <class Lanes>
using FewNearestWalk =
    std::conditional_t<Lanes::keeps_elements, WalkScratch<typename Lanes::real, 96, 0>,
                       WalkScratch<typename Lanes::real>>;

/// An index is in the bits of a Real. Both are written at once.
template <class Real>
struct alignas(2 * sizeof(Real)) WaitingCandidate {
  Real distance2;
  Real index;
};

/// Lanes of the tile lie one further apart than there are: thus they meet in no bank of a device.
template <class Lanes, int max_k>
struct FewNearestScratch : FewNearestWalk<Lanes> {
  using Real = typename Lanes::real;
  using Walk = FewNearestWalk<Lanes>;
  static constexpr int stride = Lanes::size + 1;
  static constexpr int max_particles = 6 * max_k > max_leaf_size ? 6 * max_k : max_leaf_size;
  static constexpr int num_in_rows = max_k * stride;
  using Position = typename TreeLanes<Lanes>::Position;

  /// Candidates of each lane that wait to be sorted in: see FindFewNearest. On an H200 this took a
  /// sixth off the search for 16 neighbours. For 8 it gained nothing.
  static constexpr int max_waiting = Lanes::keeps_elements && max_k == 16 ? 16 : 0;
  static constexpr std::size_t room_for_waiting =
      max_waiting > 0 ? std::size_t{max_waiting} * Lanes::size : 1;

  std::uint8_t is_near[Walk::room_for_leaves];  ///< each listed leaf
  Real lost2[Walk::room_for_queries];           ///< of each query: see BestOfLanes
  union {
    Real tile[std::size_t{num_in_rows}];  ///< rows on their way to memory, or back
    Position particles[std::size_t{Lanes::keeps_elements ? max_particles : 1}];
  };
  WaitingCandidate<Real> waiting[room_for_waiting];
};

/// What a search with the max_k best in lanes has besides its walk: its rows.
template <class Lanes, int max_k, class Derived>
struct FewRows
    : BoundedWalk<Lanes, BestRows<typename Lanes::real>, Derived, FewNearestScratch<Lanes, max_k>> {
  using Lane = typename Lanes::Lane;
  using Real = typename Lanes::real;
  using Scratch = FewNearestScratch<Lanes, max_k>;
  using Base = BoundedWalk<Lanes, BestRows<Real>, Derived, Scratch>;
  using Base::Base;
  using Base::infinity;
  using Base::rows;
  using Base::search;
  using typename Base::Walk;

 protected:
  using Best = BestOfLanes<Lanes, max_k>;

  ZHALO_HD static int num_rows(const Walk& walk, int first) {
    return walk.num - first < Lanes::size ? walk.num - first : Lanes::size;
  }

  /// Calls f(element of the rows, index in the tile) for the rows of the lanes' queries.
  template <class F>
  ZHALO_HD void for_each_element(const Lanes& lanes, const Walk& walk, int first,
                                 const F& f) const {
    const auto k = static_cast<int>(rows.k);
    const Index begin = this->row_of(walk, first) * rows.k;
    const int in_tile = (max_k - k) * Scratch::stride;
    lanes.for_each_in_rows(num_rows(walk, first), k, [&](int row, int column) {
      f(begin + (row * k + column), in_tile + column * Scratch::stride + row);
    });
    lanes.sync();
  }

  ZHALO_HD void write_rows(const Lanes& lanes, Walk& walk, int first, const Best& best) const {
    Scratch& s = walk.scratch;
    lanes.sync();  // others may still read particles
    lanes.store(best.lost2, s.lost2 + first);
    put_into_tile(lanes, best.distance2, s);
    const bool has_equals = write_counts(lanes, walk, first);
    for_each_element(lanes, walk, first,
                     [&](Index at, int in_tile) { rows.distance2[at] = s.tile[in_tile]; });
    put_into_tile(lanes, best.index, s);
    for_each_element(lanes, walk, first, [&](Index at, int in_tile) {
      rows.local_index[at] = Lanes::index_in(s.tile[in_tile]);
    });
    if (!has_equals) return;
    lanes.for_few(num_rows(walk, first), [&](Index i) {
      order_equals(search, rows, this->row_of(walk, first + static_cast<int>(i)));
    });
  }

  /// Counts the neighbours of the rows whose distances are in the tile, and marks those that are
  /// tied. Whether any row has equal distances.
  ZHALO_HD bool write_counts(const Lanes& lanes, const Walk& walk, int first) const {
    bool has_equals = false;
    lanes.for_few(num_rows(walk, first), [&](Index i) {
      const Real* distance2 = walk.scratch.tile + (max_k - rows.k) * Scratch::stride + i;
      const auto k = static_cast<LocalIndex>(rows.k);
      Real last2 = -1;
      LocalIndex count = 0;
      for (; count < k && distance2[count * Scratch::stride] < infinity; ++count) {
        const Real r2 = distance2[count * Scratch::stride];
        has_equals = has_equals || r2 == last2;
        last2 = r2;
      }
      const bool is_tied = count == k && walk.scratch.lost2[first + i] <= last2;
      rows.count[this->row_of(walk, first + static_cast<int>(i))] = is_tied ? tied_row : count;
    });
    return lanes.any(has_equals);
  }

  ZHALO_HD void read_rows(const Lanes& lanes, Walk& walk, int first, Best& best) const {
    Scratch& s = walk.scratch;
    best.lost2 = lanes.load(s.lost2 + first);
    for_each_element(lanes, walk, first,
                     [&](Index at, int in_tile) { s.tile[in_tile] = rows.distance2[at]; });
    take_from_tile(lanes, s, best.distance2);
    for_each_element(lanes, walk, first, [&](Index at, int in_tile) {
      s.tile[in_tile] = bits_of_index<Real>(rows.local_index[at]);
    });
    take_from_tile(lanes, s, best.index);
  }

  ZHALO_HD static void put_into_tile(const Lanes& lanes, const Lane (&best)[std::size_t{max_k}],
                                     Scratch& s) {
    ZHALO_UNROLL
    for (int u = 0; u < max_k; ++u) lanes.store(best[u], s.tile + u * Scratch::stride);
    lanes.sync();
  }

  /// Elements that no row has stay as they are.
  ZHALO_HD void take_from_tile(const Lanes& lanes, const Scratch& s,
                               Lane (&best)[std::size_t{max_k}]) const {
    ZHALO_UNROLL
    for (int u = 0; u < max_k; ++u)
      if (u >= max_k - rows.k) best[u] = lanes.load(s.tile + u * Scratch::stride);
    lanes.sync();
  }
};

}  // namespace ZHALO_LANES_NAMESPACE
ZHALO_LANES_END
