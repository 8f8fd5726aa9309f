// Neighbours that a query found, and the nearest of them. No include guard: compiled once for each
// vector target.

HWY_BEFORE_NAMESPACE();
namespace zhalo::kernels::HWY_NAMESPACE {

/// Room for `max_staged` neighbours in any order, of which up to `max_kept` are kept in order.
template <int max_staged, int max_kept>
struct NeighbourStage {
  /// Vectors are written whole.
  static constexpr std::size_t room = max_staged + WalkScratch<float>::slack;

  std::uint32_t distance_bits[room];
  LocalIndex index[room];

  /// Puts the k nearest of the first `num` and the next one in order, into their first places.
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
      const NeighbourKey key = keys[Sorter::place_of(i)];
      distance_bits[i] = static_cast<std::uint32_t>(key >> 32);
      index[i] = static_cast<LocalIndex>(key);
    }
  }

  bool may_have_equals_ = false;
};

}  // namespace zhalo::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
