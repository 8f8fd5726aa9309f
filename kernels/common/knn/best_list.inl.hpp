// The list of the k best of one query, for any Lanes. No include guard: compiled once for each
// kind of Lanes.

ZHALO_LANES_BEGIN
namespace ZHALO_LANES_NAMESPACE {

/// Keeps a row ascending by (squared distance, global index), at most k elements. What is found is
/// staged in scratch memory; a full stage is sorted by counting for each element those before it,
/// which needs no branches, and merged into the row.
template <class Lanes>
struct BestList {
  using Real = typename Lanes::real;
  using Scratch = NeighbourScratch<Real>;

  BestRows<Real> rows;
  SearchColumn<Index> global_index;

  /// Stages places, of which there are `staged` already.
  ZHALO_HD static void add(const Lanes& lanes, const FoundLanes<Lanes>& found, int& staged,
                           Scratch& s) {
    lanes.compress(found.lane_bits, found.r2, s.staged2 + staged);
    lanes.compress_indices(found.lane_bits, found.first, s.staged + staged);
    staged += count_bits(found.lane_bits);
  }

  /// Merges the staged into a row of `found`; returns how many it holds then.
  ZHALO_HD LocalIndex flush(const Lanes& lanes, Index row, LocalIndex found, int staged,
                            Scratch& s) const {
    if (staged == 0) return found;
    lanes.sync();
    sort_stage(lanes, staged, s);
    lanes.sync();
    const Index num_new = staged < rows.k ? Index{staged} : rows.k;
    Real* distance2 = rows.distance2 + row * rows.k;
    LocalIndex* index = rows.local_index + row * rows.k;
    if (found == 0) {
      lanes.for_each_lane(num_new, [&](Index i) {
        distance2[i] = s.sorted2[i];
        index[i] = s.sorted[i];
      });
    } else {
      merge(lanes, {distance2, index, static_cast<Index>(found)}, num_new, s);
    }
    lanes.sync();
    const Index sum = found + num_new;
    return static_cast<LocalIndex>(sum < rows.k ? sum : rows.k);
  }

 private:
  static constexpr Real infinity = std::numeric_limits<Real>::infinity();

  struct Row {
    Real* distance2;
    LocalIndex* index;
    Index num;
  };

  /// By counting for each element those that are not above it.
  ZHALO_HD void sort_stage(const Lanes& lanes, int staged, Scratch& s) const {
    lanes.for_each_lane(Lanes::size, [&](Index i) { s.staged2[staged + i] = infinity; });
    lanes.sync();
    std::uint64_t seen[2] = {};
    bool distinct = true;
    for (int i = 0; i < staged; ++i) {
      const Real value = s.staged2[i];
      int index = -1;
      for (int j = 0; j < staged; j += Lanes::size)
        index += count_bits(lanes.ballot(lanes.load(s.staged2 + j) <= lanes.broadcast(value)));
      const std::uint64_t bit = std::uint64_t{1} << (index % 64);
      distinct = distinct && (seen[index / 64] & bit) == 0;
      seen[index / 64] |= bit;
      put(lanes, i, index, s);
    }
    if (distinct) return;
    // Elements with the same distance were all put at the last place of them.
    lanes.sync();
    for (int i = 0; i < staged; ++i) put(lanes, i, stable_index(lanes, i, staged, s), s);
    lanes.sync();
    lanes.one([&] { order_equals(staged, s); });
  }

  ZHALO_HD static void put(const Lanes& lanes, int i, int index, Scratch& s) {
    lanes.one([&] {
      s.sorted2[index] = s.staged2[i];
      s.sorted[index] = s.staged[i];
    });
  }

  /// Place in the order of squared distance, equal ones as they were staged.
  ZHALO_HD static int stable_index(const Lanes& lanes, int i, int staged, const Scratch& s) {
    const Real value = s.staged2[i];
    int before = 0;
    for (int j = 0; j < staged; j += Lanes::size) {
      const auto other = lanes.load(s.staged2 + j);
      const std::uint64_t not_above = lanes.ballot(other <= lanes.broadcast(value));
      const std::uint64_t not_below = lanes.ballot(lanes.broadcast(value) <= other);
      const std::uint64_t earlier = i > j ? first_bits(i - j) : 0;
      before += count_bits(not_above & (~not_below | earlier));
    }
    return before;
  }

  /// Orders equal distances by global index, by insertion: particles of one place were staged in
  /// that order already.
  ZHALO_HD void order_equals(int num, Scratch& s) const {
    for (int i = 1; i < num; ++i) {
      const LocalIndex index = s.sorted[i];
      int at = i;
      for (; at > 0 && s.sorted2[at - 1] == s.sorted2[i] &&
             global_index[index] < global_index[s.sorted[at - 1]];
           --at)
        s.sorted[at] = s.sorted[at - 1];
      s.sorted[at] = index;
    }
  }

  /// Elements of the row that come before the sorted element i.
  ZHALO_HD Index count_before(const Row& row, Index i, const Scratch& s) const {
    Index low = 0;
    Index high = row.num;
    while (low < high) {
      const Index middle = (low + high) / 2;
      const Real r2 = row.distance2[middle];
      const bool before =
          r2 < s.sorted2[i] ||
          (r2 == s.sorted2[i] && global_index[row.index[middle]] < global_index[s.sorted[i]]);
      if (before) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /// From the last new element to the first: what comes behind it moves up by the number of new
  /// ones before that.
  ZHALO_HD void merge(const Lanes& lanes, const Row& row, Index num_new, Scratch& s) const {
    LocalIndex* before = s.staged;  // what was staged lies in s.sorted now
    lanes.for_each_lane(
        num_new, [&](Index i) { before[i] = static_cast<LocalIndex>(count_before(row, i, s)); });
    lanes.sync();
    Index end = row.num;
    for (Index i = num_new - 1; i >= 0; --i) {
      const Index first = before[i];
      const Index to = first + i + 1;
      const Index room = rows.k - to;
      const Index moved = end - first < room ? end - first : room;
      if (moved > 0) {
        lanes.move(row.distance2 + first, moved, row.distance2 + to);
        lanes.move(row.index + first, moved, row.index + to);
      }
      if (room >= 0) {
        lanes.one([&] {
          row.distance2[to - 1] = s.sorted2[i];
          row.index[to - 1] = s.sorted[i];
        });
      }
      lanes.sync();
      end = first;
    }
  }
};

}  // namespace ZHALO_LANES_NAMESPACE
ZHALO_LANES_END
