// The list of the k best of one query, for any Lanes. No include guard: compiled once for each
// kind of Lanes.

ZHALO_LANES_BEGIN
namespace ZHALO_LANES_NAMESPACE {

/// The k nearest of one query so far, ascending by (squared distance, global index).
template <class Real>
struct BestRow {
  Real* distance2;
  LocalIndex* index;
  Index num;
};

/// Keeps a row of at most k elements. What is found is staged in scratch memory; a full stage is
/// sorted by counting for each element those before it, which needs no branches, and merged into
/// the row. Short rows are in scratch memory, too, as long as their query is at work.
template <class Lanes>
struct BestList {
  using Real = typename Lanes::real;
  using Lane = typename Lanes::Lane;
  using Scratch = NeighbourScratch<Real>;
  using Row = BestRow<Real>;

  BestRows<Real> rows;
  SearchColumn<Index> global_index;

  /// A query's row, of which `found` elements are known.
  ZHALO_HD Row open(const Lanes& lanes, Index row, LocalIndex found, Scratch& s) const {
    const Row result = row_in_results(row, found);
    if (!is_short()) return result;
    const Row kept{s.row2[0], s.row[0], result.num};
    copy(lanes, result, kept);
    return kept;
  }

  ZHALO_HD void close(const Lanes& lanes, const Row& kept, Index row) const {
    if (is_short()) copy(lanes, kept, row_in_results(row, 0));
  }

  /// Stages what was found behind the `staged` ones.
  ZHALO_HD static void add(const Lanes& lanes, const FoundLanes<Lanes>& found, int& staged,
                           Scratch& s) {
    lanes.compress(found.lane_bits, found.r2, s.staged2 + staged);
    lanes.compress_indices(found.lane_bits, found.first, s.staged + staged);
    staged += count_bits(found.lane_bits);
  }

  /// Merges the staged into a row.
  ZHALO_HD void flush(const Lanes& lanes, Row& row, int staged, Scratch& s) const {
    if (staged == 0) return;
    lanes.sync();
    sort_stage(lanes, staged, s);
    lanes.sync();
    const Index num_new = staged < rows.k ? Index{staged} : rows.k;
    if (row.num == 0) {
      copy(lanes, {s.sorted2, s.sorted, num_new}, row);
    } else if (is_short()) {
      merge_short(lanes, row, num_new, s);
    } else {
      merge_in_place(lanes, row, num_new, s);
    }
    const Index sum = row.num + num_new;
    row.num = sum < rows.k ? sum : rows.k;
  }

 private:
  struct Element {
    Real r2;
    LocalIndex index;
  };

  /// Merging short rows pays where each lane has a few elements of them.
  static constexpr bool has_many_lanes = Scratch::max_short_row <= 4 * Lanes::size;
  ZHALO_HD bool is_short() const { return has_many_lanes && rows.k <= Scratch::max_short_row; }

  ZHALO_HD Row row_in_results(Index row, LocalIndex found) const {
    return {rows.distance2 + row * rows.k, rows.local_index + row * rows.k, Index{found}};
  }

  ZHALO_HD static void copy(const Lanes& lanes, const Row& from, const Row& to) {
    lanes.for_few(from.num, [&](Index i) {
      to.distance2[i] = from.distance2[i];
      to.index[i] = from.index[i];
    });
    lanes.sync();
  }

  // ---------------------------------------------------------------- order of the staged

  /// By squared distance, then by global index.
  ZHALO_HD void sort_stage(const Lanes& lanes, int staged, Scratch& s) const {
    Lane minus_sum = lanes.broadcast(0);
    for (int first = 0; first < staged; first += together * Lanes::size)
      count_not_above(lanes, first, staged, minus_sum, s);
    // Each pair of equal distances adds 1 to the sum of all ranks.
    const int num_pairs = staged * (staged - 1) / 2;
    const bool has_equals = sum_of(lanes, minus_sum, s) != -static_cast<Real>(num_pairs);
    if (has_equals)
      lanes.for_few(staged, [&](Index i) { s.window[i] = stable_rank(i, staged, s); });
    put_in_order(lanes, staged, s);
    if (has_equals) lanes.one([&] { order_equals(staged, s); });
  }

  static constexpr int together = 4;  ///< vectors of elements whose ranks are counted

  /// The rank of each element (how many are nearer) if no other has its distance, of those from
  /// `first` on. Behind the end it is of no meaning.
  ZHALO_HD static void count_not_above(const Lanes& lanes, int first, int staged, Lane& minus_sum,
                                       Scratch& s) {
    const Lane none = lanes.broadcast(0);
    const Lane minus_one = lanes.broadcast(-1);
    Lane own[std::size_t{together}];
    Lane rank[std::size_t{together}];
    ZHALO_UNROLL
    for (int u = 0; u < together; ++u) {
      own[u] = lanes.load(s.staged2 + first + u * Lanes::size);
      rank[u] = minus_one;
    }
    for (int j = 0; j < staged; ++j) {
      const Lane other = lanes.broadcast(s.staged2[j]);
      ZHALO_UNROLL
      for (int u = 0; u < together; ++u)
        rank[u] = rank[u] - lanes.select(other <= own[u], minus_one, none);
    }
    ZHALO_UNROLL
    for (int u = 0; u < together; ++u) {
      const int begin = first + u * Lanes::size;
      lanes.store(rank[u], s.window + begin);
      const std::uint64_t is_staged = begin < staged ? first_bits(staged - begin) : 0;
      minus_sum = minus_sum - lanes.select(is_staged, rank[u], none);
    }
  }

  /// Over all lanes. Whole numbers: exact in any order.
  ZHALO_HD static Real sum_of(const Lanes& lanes, Lane values, Scratch& s) {
    lanes.store(values, s.sorted2);
    lanes.sync();
    Real sum = 0;
    for (int lane = 0; lane < Lanes::size; ++lane) sum += s.sorted2[lane];
    lanes.sync();
    return sum;
  }

  ZHALO_HD static void put_in_order(const Lanes& lanes, int staged, Scratch& s) {
    lanes.sync();
    lanes.for_few(staged, [&](Index i) {
      const auto to = static_cast<int>(s.window[i]);
      s.sorted2[to] = s.staged2[i];
      s.sorted[to] = s.staged[i];
    });
    lanes.sync();
  }

  /// In the order of squared distance, equal ones as they were staged.
  ZHALO_HD static Real stable_rank(Index i, int staged, const Scratch& s) {
    const Real r2 = s.staged2[i];
    int rank = 0;
    for (int j = 0; j < staged; ++j)
      if (s.staged2[j] < r2 || (s.staged2[j] == r2 && j < i)) ++rank;
    return static_cast<Real>(rank);
  }

  /// Orders equal distances by global index, by insertion: particles at one position were staged
  /// in that order already.
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

  // ---------------------------------------------------------------- merging

  /// Elements of the row that come before another one.
  ZHALO_HD Index count_in_row(const Row& row, const Element& element) const {
    Index low = 0;
    Index high = row.num;
    while (low < high) {
      const Index middle = (low + high) / 2;
      const Real r2 = row.distance2[middle];
      const bool before = r2 < element.r2 || (r2 == element.r2 && global_index[row.index[middle]] <
                                                                      global_index[element.index]);
      if (before) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /// Into the other half of the scratch memory: the index of each element is its rank among its
  /// own plus the number of others before it.
  ZHALO_HD void merge_short(const Lanes& lanes, Row& row, Index num_new, Scratch& s) const {
    const int half = row.distance2 == s.row2[0] ? 1 : 0;
    const Row merged{s.row2[half], s.row[half], row.num};
    const Row found{s.sorted2, s.sorted, num_new};
    const auto put = [&](Index to, const Element& element) {
      if (to >= rows.k) return;
      merged.distance2[to] = element.r2;
      merged.index[to] = element.index;
    };
    lanes.for_few(num_new, [&](Index i) {
      const Element element{found.distance2[i], found.index[i]};
      put(i + count_in_row(row, element), element);
    });
    lanes.for_few(row.num, [&](Index i) {
      const Element element{row.distance2[i], row.index[i]};
      put(i + count_in_row(found, element), element);
    });
    lanes.sync();
    row = merged;
  }

  /// From the last new element to the first: what comes behind it moves up by the number of new
  /// ones before that.
  ZHALO_HD void merge_in_place(const Lanes& lanes, const Row& row, Index num_new,
                               Scratch& s) const {
    LocalIndex* before = s.staged;  // what was staged lies in s.sorted now
    lanes.for_few(num_new, [&](Index i) {
      before[i] = static_cast<LocalIndex>(count_in_row(row, {s.sorted2[i], s.sorted[i]}));
    });
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
