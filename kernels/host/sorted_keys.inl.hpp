// Sorting some keys in vector registers. No include guard: compiled once for each vector target.

HWY_BEFORE_NAMESPACE();
namespace zhalo::kernels::HWY_NAMESPACE {

/// A squared distance above, an index below: one comparison orders both. Bits of floats that are
/// not negative are in the order of the floats.
using NeighbourKey = std::int64_t;

/// Above all others, as are its distance (not a number) and its index.
inline constexpr NeighbourKey no_key = std::numeric_limits<NeighbourKey>::max();

/// The upper bits of a squared distance above, its position among those that are sorted below: half
/// as long, but distances that differ little can come out of order.
using ShortNeighbourKey = std::uint32_t;

template <class Vector>
HWY_INLINE void order_lanes(Vector& smaller, Vector& larger) {
  const Vector a = smaller;
  smaller = hn::Min(a, larger);
  larger = hn::Max(a, larger);
}

/// Of those vectors that are `step` apart, both halves are sorted.
template <int first, int num, int step, class Vector>
HWY_INLINE void merge_lanes(Vector* vectors) {
  if constexpr (2 * step < num) {
    merge_lanes<first, num, 2 * step>(vectors);
    merge_lanes<first + step, num, 2 * step>(vectors);
    ZHALO_UNROLL
    for (int i = first + step; i + step < first + num; i += 2 * step)
      order_lanes(vectors[i], vectors[i + step]);
  } else {
    order_lanes(vectors[first], vectors[first + step]);
  }
}

/// Sorts each lane over vectors[first] to vectors[first + num - 1]: Batcher's odd-even merge sort.
template <int first, int num, class Vector>
HWY_INLINE void sort_lanes(Vector* vectors) {
  if constexpr (num > 1) {
    sort_lanes<first, num / 2>(vectors);
    sort_lanes<first + num / 2, num / 2>(vectors);
    merge_lanes<first, num, 1>(vectors);
  }
}

/// Of a table in `num` vectors, the elements at some indices.
template <int num, class Vector>
HWY_INLINE Vector look_up(const Vector* table, Vector indices) {
  using Tag = hn::DFromV<Vector>;
  constexpr int size = static_cast<int>(hn::MaxLanes(Tag{}));
  if constexpr (num == 1) {
    const auto in_vector = hn::And(indices, hn::Set(Tag{}, size - 1));
    return hn::TableLookupLanes(table[0], hn::IndicesFromVec(Tag{}, in_vector));
  } else {
    const auto is_later = hn::TestBit(indices, hn::Set(Tag{}, num / 2 * size));
    return hn::IfThenElse(is_later, look_up<num / 2>(table + num / 2, indices),
                          look_up<num / 2>(table, indices));
  }
}

/// Some keys, a vector for each row. First each column is sorted, then columns are merged in pairs,
/// then pairs of columns, and so on. In the end the keys ascend from the top of a column to its
/// bottom, and from column to column.
template <class Key, int num>
class KeySorter {
  using Tag = hn::ScalableTag<Key>;
  using Keys = hn::Vec<Tag>;

 public:
  static constexpr int size = num;
  static constexpr int num_columns = static_cast<int>(hn::MaxLanes(Tag{}));
  static constexpr int num_rows = size / num_columns;

  /// Reads `size` elements of each.
  HWY_INLINE void load(const std::uint32_t* distance_bits, const std::uint32_t* index) {
    static_assert(std::is_same_v<Key, NeighbourKey>);
    using Bits = hn::RebindToUnsigned<Tag>;
    using Halves = hn::Half<hn::Repartition<std::uint32_t, Tag>>;
    ZHALO_UNROLL
    for (int row = 0; row < num_rows; ++row) {
      const auto above =
          hn::PromoteTo(Bits{}, hn::LoadU(Halves{}, distance_bits + Index{row} * num_columns));
      const auto below =
          hn::PromoteTo(Bits{}, hn::LoadU(Halves{}, index + Index{row} * num_columns));
      keys_[row] = hn::BitCast(Tag{}, hn::Or(hn::ShiftLeft<32>(above), below));
    }
  }

  /// Reads `size` distances.
  HWY_INLINE void load(const std::uint32_t* distance_bits) {
    static_assert(std::is_same_v<Key, ShortNeighbourKey>);
    ZHALO_UNROLL
    for (int row = 0; row < num_rows; ++row) {
      const int first = row * num_columns;
      const Keys above =
          hn::AndNot(hn::Set(Tag{}, size - 1), hn::LoadU(Tag{}, distance_bits + first));
      keys_[row] = hn::Or(above, hn::Iota(Tag{}, static_cast<Key>(first)));
    }
  }

  HWY_INLINE void sort() {
    sort_lanes<0, num_rows>(keys_);
    merge_columns<1>();
  }

  HWY_INLINE void store(Key* to) const {
    ZHALO_UNROLL
    for (int row = 0; row < num_rows; ++row)
      hn::Store(keys_[row], Tag{}, to + Index{row} * num_columns);
  }

  /// Whether each of the `count` smallest differs from the next in more than its position.
  HWY_INLINE bool tells_apart(int count) const {
    static_assert(std::is_same_v<Key, ShortNeighbourKey>);
    const auto column = hn::Iota(Tag{}, 0);
    const auto next_column = hn::And(hn::Iota(Tag{}, 1), hn::Set(Tag{}, Key{num_columns - 1}));
    const auto first_of_next =
        hn::TableLookupLanes(keys_[0], hn::IndicesFromVec(Tag{}, next_column));
    const auto last = hn::Set(Tag{}, static_cast<Key>(std::max(count, 1) - 1));
    auto are_close = hn::FirstN(Tag{}, 0);
    ZHALO_UNROLL
    for (int row = 0; row < num_rows; ++row) {
      const Keys next = row + 1 < num_rows ? keys_[row + 1] : first_of_next;
      const Keys rank = hn::Add(hn::ShiftLeft<hwy::CeilLog2(num_rows)>(column),
                                hn::Set(Tag{}, static_cast<Key>(row)));
      const auto is_close = hn::Lt(hn::Xor(keys_[row], next), hn::Set(Tag{}, Key{size}));
      are_close = hn::Or(are_close, hn::And(is_close, hn::Lt(rank, last)));
    }
    return hn::AllFalse(Tag{}, are_close);
  }

  /// Those from the i-th smallest on, as many as a vector holds, in order; i a multiple of that.
  HWY_INLINE Keys in_order(int i) const {
    const auto rank = hn::Iota(Tag{}, static_cast<Key>(i));
    const auto row = hn::And(rank, hn::Set(Tag{}, Key{num_rows - 1}));
    const auto column = hn::ShiftRight<hwy::CeilLog2(num_rows)>(rank);
    const auto at = hn::Add(hn::ShiftLeft<hwy::CeilLog2(num_columns)>(row), column);
    return look_up<num_rows>(keys_, at);
  }

  /// Where the i-th smallest is among the stored.
  static constexpr int index_of(int i) { return i % num_rows * num_columns + i / num_rows; }

 private:
  // ------------------------------------------------------------ merging columns: Batcher's bitonic

  /// Merges each `width` columns, which are sorted together, with the next ones.
  template <int width>
  HWY_INLINE void merge_columns() {
    if constexpr (width < num_columns) {
      const auto is_later = later_columns<width>();
      Keys merged[std::size_t{num_rows}];
      ZHALO_UNROLL
      for (int row = 0; row < num_rows; ++row)
        merged[row] = ordered(keys_[row], mirrored<2 * width>(keys_[num_rows - 1 - row]), is_later);
      ZHALO_UNROLL
      for (int row = 0; row < num_rows; ++row) keys_[row] = merged[row];
      order_columns<width / 2>();
      order_rows<num_rows / 2>();
      merge_columns<2 * width>();
    }
  }

  /// Elements at `distance` columns from each other.
  template <int distance>
  HWY_INLINE void order_columns() {
    if constexpr (distance > 0) {
      const auto is_later = later_columns<distance>();
      ZHALO_UNROLL
      for (int row = 0; row < num_rows; ++row)
        keys_[row] = ordered(keys_[row], exchanged<distance>(keys_[row]), is_later);
      order_columns<distance / 2>();
    }
  }

  template <int distance>
  HWY_INLINE void order_rows() {
    if constexpr (distance > 0) {
      ZHALO_UNROLL
      for (int row = 0; row < num_rows; ++row)
        if ((row & distance) == 0) order_lanes(keys_[row], keys_[row + distance]);
      order_rows<distance / 2>();
    }
  }

  /// The smaller ones, but in later columns the larger ones.
  static HWY_INLINE Keys ordered(Keys a, Keys b, hn::Mask<Tag> is_later) {
    return hn::IfThenElse(is_later, hn::Max(a, b), hn::Min(a, b));
  }

  /// Of each 2 x width columns the second half.
  template <int width>
  static HWY_INLINE hn::Mask<Tag> later_columns() {
    const Keys column = hn::Iota(Tag{}, 0);
    return hn::TestBit(column, hn::Set(Tag{}, width));
  }

  /// Each `width` columns in the opposite order.
  template <int width>
  static HWY_INLINE Keys mirrored(Keys keys) {
    if constexpr (width == 2) return hn::Reverse2(Tag{}, keys);
    if constexpr (width == 4) return hn::Reverse4(Tag{}, keys);
    if constexpr (width == num_columns) return hn::Reverse(Tag{}, keys);
    return hn::Reverse8(Tag{}, keys);
  }

  /// Each with the one `distance` columns away.
  template <int distance>
  static HWY_INLINE Keys exchanged(Keys keys) {
    constexpr std::size_t bytes = distance * sizeof(Key);
    static_assert(bytes <= 32);
    if constexpr (distance == 1) return hn::Reverse2(Tag{}, keys);
    if constexpr (distance > 1 && bytes == 8) return hn::Shuffle1032(keys);
    if constexpr (distance > 1 && bytes == 16) return hn::SwapAdjacentBlocks(keys);
    return hn::ConcatLowerUpper(Tag{}, keys, keys);
  }

  Keys keys_[std::size_t{num_rows}];
};

}  // namespace zhalo::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
