// Neighbours that a query found, and the nearest of them. No include guard: compiled once for each
// vector target.

HWY_BEFORE_NAMESPACE();
namespace zhalo::kernels::HWY_NAMESPACE {

/// Room for `max_staged` neighbours in any order, of which up to `max_kept` are kept in order.
template <int max_staged, int max_kept>
struct NeighbourStage {
  static constexpr int slack = WalkScratch<float>::slack;  ///< vectors are written whole

  std::uint32_t distance_bits[max_staged + slack];
  LocalIndex index[max_staged + slack];

  /// Puts the k nearest of the first `num` in order, into their first places, and remembers them
  /// with the next one. Writes up to `size` elements.
  template <int size>
  void keep_nearest(int num, int k) {
    const auto step = static_cast<int>(hn::MaxLanes(tag));
    for (int i = num; i < size; i += step) {
      hn::StoreU(hn::Set(tag, static_cast<std::uint32_t>(no_key >> 32)), tag, distance_bits + i);
      hn::StoreU(hn::Set(tag, no_index), tag, index + i);
    }
    sort_by_short_keys<size>();
    if (!is_in_order<size>(std::min(num, k + 1))) sort_by_whole_keys<size>();
    std::copy_n(kept_bits_, max_kept, distance_bits);
    std::copy_n(kept_index_, max_kept, index);
  }

  /// Whether two of the `num` nearest are equally far; num up to max_kept.
  bool has_equals(int num) const {
    return any_step(num, [](auto bits) { return hn::Eq(bits, hn::Zero(tag)); });
  }

  /// Of the i-th nearest when they were put in order; i up to k.
  float kept_distance2(int i) const { return std::bit_cast<float>(kept_bits_[i]); }

 private:
  static constexpr hn::ScalableTag<std::uint32_t> tag{};
  using Bits = hn::Vec<hn::ScalableTag<std::uint32_t>>;
  template <int size>
  static constexpr int num_sorted = std::min(max_kept + 1, size);

  /// In order but for distances that short keys cannot tell apart.
  template <int size>
  HWY_INLINE void sort_by_short_keys() {
    using Sorter = KeySorter<ShortNeighbourKey, size>;
    Sorter sorter;
    sorter.load(distance_bits);
    sorter.sort();
    Bits staged_bits[std::size_t{Sorter::num_rows}];
    Bits staged_index[std::size_t{Sorter::num_rows}];
    ZHALO_UNROLL
    for (int row = 0; row < Sorter::num_rows; ++row) {
      staged_bits[row] = hn::LoadU(tag, distance_bits + row * Sorter::num_columns);
      staged_index[row] = hn::LoadU(tag, index + row * Sorter::num_columns);
    }
    ZHALO_UNROLL
    for (int i = 0; i < num_sorted<size>; i += Sorter::num_columns) {
      const Bits from = hn::And(sorter.in_order(i), hn::Set(tag, ShortNeighbourKey{size - 1}));
      hn::StoreU(look_up<Sorter::num_rows>(staged_bits, from), tag, kept_bits_ + i);
      hn::StoreU(look_up<Sorter::num_rows>(staged_index, from), tag, kept_index_ + i);
    }
  }

  /// Whether short keys told the first `num` apart: in all but one of some hundred queries, unless
  /// distances are equal.
  template <int size>
  HWY_INLINE bool is_in_order(int num) const {
    return !any_step(num, [](auto bits) { return hn::Lt(bits, hn::Set(tag, size)); });
  }

  /// Whether `holds` for the bits in which one of the first `num` differs from the next of them.
  template <class Condition>
  HWY_INLINE bool any_step(int num, const Condition& holds) const {
    const auto step = static_cast<int>(hn::MaxLanes(tag));
    bool any = false;
    for (int i = 0; i < num - 1; i += step) {
      const auto different_bits =
          hn::Xor(hn::LoadU(tag, kept_bits_ + i), hn::LoadU(tag, kept_bits_ + i + 1));
      const auto are_compared = hn::FirstN(tag, static_cast<std::size_t>(num - 1 - i));
      any |= !hn::AllFalse(tag, hn::And(holds(different_bits), are_compared));
    }
    return any;
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
      kept_bits_[i] = static_cast<std::uint32_t>(key >> 32);
      kept_index_[i] = static_cast<LocalIndex>(key);
    }
  }

  // The nearest, and the next one.
  std::uint32_t kept_bits_[max_kept + 1 + slack];
  LocalIndex kept_index_[max_kept + 1 + slack];
};

}  // namespace zhalo::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
