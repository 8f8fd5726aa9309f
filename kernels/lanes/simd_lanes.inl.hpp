// SimdLanes: lanes of a vector register, through Highway. No include guard: compiled once per
// Highway target.

HWY_BEFORE_NAMESPACE();
namespace zhalo::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Masks are integers in registers of their own (AVX-512).
template <class AnyMask>
inline constexpr bool has_mask_register = requires(AnyMask m) {
  requires std::is_integral_v<decltype(m.raw)>;
};

template <class Real>
class SimdLanes {
  using Tag = hn::ScalableTag<Real>;
  using Vector = hn::Vec<Tag>;
  using VectorMask = hn::Mask<Tag>;

 public:
  using real = Real;
  static constexpr int size = static_cast<int>(hn::MaxLanes(Tag{}));

  struct Mask {
    VectorMask value;
  };
  struct Lane {
    Vector value;

    // Members: of friends that are defined here, g++ 12 forgets both the vector target and the
    // inlining.
    HWY_INLINE Lane operator-(Lane b) const { return {hn::Sub(value, b.value)}; }
    HWY_INLINE Lane operator*(Lane b) const { return {hn::Mul(value, b.value)}; }
    HWY_INLINE Mask operator<=(Lane b) const { return {hn::Le(value, b.value)}; }
  };

  HWY_INLINE Lane load(const Real* p) const { return {hn::LoadU(Tag{}, p)}; }
  HWY_INLINE Lane load_or(const Real* p, Index n, Real fallback) const {
    const Vector other = hn::Set(Tag{}, fallback);
    if (n >= size) return {hn::LoadU(Tag{}, p)};
    return {hn::IfThenElse(first(n), hn::LoadU(Tag{}, p), other)};
  }
  HWY_INLINE Lane broadcast(Real v) const { return {hn::Set(Tag{}, v)}; }

  HWY_INLINE void store(Lane v, Real* to) const { hn::StoreU(v.value, Tag{}, to); }
  HWY_INLINE Lane select(Mask m, Lane a, Lane b) const {
    return {hn::IfThenElse(m.value, a.value, b.value)};
  }
  HWY_INLINE Lane select(std::uint64_t bits, Lane a, Lane b) const {
    return {hn::IfThenElse(mask_of(Tag{}, bits), a.value, b.value)};
  }
  HWY_INLINE Lane broadcast_index(LocalIndex i) const {
    const hn::RebindToUnsigned<Tag> tag;
    return {hn::BitCast(Tag{}, hn::Set(tag, i))};
  }
  static HWY_INLINE LocalIndex index_in(Real v) { return kernels::index_in_bits(v); }

  HWY_INLINE std::uint64_t ballot(Mask m) const {
    if constexpr (has_mask_register<VectorMask>) {
      return m.value.raw;  // Highway's way goes through memory
    } else {
      std::uint8_t bytes[8] = {};
      hn::StoreMaskBits(Tag{}, m.value, bytes);
      std::uint64_t bits = 0;
      __builtin_memcpy(&bits, bytes, sizeof bits);
      return bits;
    }
  }

  HWY_INLINE bool any(bool b) const { return b; }
  template <std::size_t n>
  HWY_INLINE std::uint64_t any_of(const Mask (&m)[n]) const {
    std::uint64_t found = 0;
    for (std::size_t u = 0; u < n; ++u) found |= std::uint64_t{ballot(m[u]) != 0} << u;
    return found;
  }

  static constexpr bool keeps_elements = false;
  // Elements come from memory again: from a register they would go through memory, too.
  HWY_INLINE Real element(Lane, const Real* p, int lane) const { return p[lane]; }
  template <class F>
  HWY_INLINE std::uint64_t filter(std::uint64_t bits, F f) const {
    for (std::uint64_t left = bits; left != 0; left &= left - 1) {
      const int lane = kernels::lowest_bit(left);
      if (!f(lane)) bits &= ~(std::uint64_t{1} << lane);
    }
    return bits;
  }

  /// Through a register and a whole store (`size` elements of `to` may be written): compressing to
  /// memory is microcode on AMD.
  HWY_INLINE void compress(std::uint64_t bits, Lane v, Real* to) const {
    hn::StoreU(compressed(v.value, Tag{}, bits), Tag{}, to);
  }
  HWY_INLINE void compress_indices(std::uint64_t bits, LocalIndex first_index,
                                   LocalIndex* to) const {
    const hn::Rebind<LocalIndex, Tag> tag;
    // An Iota from a variable on would go through memory.
    const auto index = hn::Add(hn::Iota(tag, 0), hn::Set(tag, first_index));
    hn::StoreU(compressed(index, tag, bits), tag, to);
  }

  /// Writes `size` elements. Only these lanes have it.
  HWY_INLINE void repeat_index(LocalIndex i, LocalIndex* to) const {
    const hn::Rebind<LocalIndex, Tag> tag;
    hn::StoreU(hn::Set(tag, i), tag, to);
  }

  template <class T>
  HWY_INLINE void move(const T* from, Index n, T* to) const {
    __builtin_memmove(to, from, static_cast<std::size_t>(n) * sizeof(T));
  }

  HWY_INLINE Real reduce_min(Lane v) const { return hn::GetLane(hn::MinOfLanes(Tag{}, v.value)); }
  HWY_INLINE Real reduce_max(Lane v) const { return hn::GetLane(hn::MaxOfLanes(Tag{}, v.value)); }

  template <class F>
  HWY_INLINE void one(F f) const {
    f();
  }
  template <class F>
  HWY_INLINE void for_each_lane(Index n, F f) const {
    for (Index i = 0; i < n; ++i) f(i);
  }
  template <class F>
  HWY_INLINE void for_few(Index n, F f) const {
    for_each_lane(n, f);
  }
  template <class F>
  HWY_INLINE void for_each_in_rows(int num_rows, int num_columns, F f) const {
    for (int row = 0; row < num_rows; ++row) {
      for (int column = 0; column < num_columns; ++column) f(row, column);
    }
  }
  template <class F>
  HWY_INLINE void for_each_bit(std::uint64_t bits, F f) const {
    for (; bits != 0; bits &= bits - 1) f(kernels::lowest_bit(bits));
  }
  HWY_INLINE void sync() const {}

  static HWY_INLINE Lane abs(Lane a) { return {hn::Abs(a.value)}; }
  static HWY_INLINE Lane min(Lane a, Lane b) { return {hn::Min(a.value, b.value)}; }
  static HWY_INLINE Lane max(Lane a, Lane b) { return {hn::Max(a.value, b.value)}; }
  static HWY_INLINE Lane fma(Lane a, Lane b, Lane c) {
#if !HWY_NATIVE_FMA
    // No instruction for it: Highway would round twice, which would break the promise of equal
    // results on all machines.
    alignas(64) Real x[hn::MaxLanes(Tag{})], y[hn::MaxLanes(Tag{})], z[hn::MaxLanes(Tag{})];
    hn::Store(a.value, Tag{}, x);
    hn::Store(b.value, Tag{}, y);
    hn::Store(c.value, Tag{}, z);
    for (int i = 0; i < size; ++i) z[i] = std::fma(x[i], y[i], z[i]);
    return {hn::Load(Tag{}, z)};
#else
    return {hn::MulAdd(a.value, b.value, c.value)};
#endif
  }

 private:
  template <class AnyTag>
  static HWY_INLINE auto mask_of(AnyTag tag, std::uint64_t bits) {
    using AnyMask = hn::Mask<AnyTag>;
    if constexpr (has_mask_register<AnyMask>) {
      return AnyMask{static_cast<decltype(AnyMask::raw)>(bits)};
    } else {
      return hn::LoadMaskBits(tag, reinterpret_cast<const std::uint8_t*>(&bits));
    }
  }

  template <class AnyVector, class AnyTag>
  static HWY_INLINE AnyVector compressed(AnyVector v, AnyTag tag, std::uint64_t bits) {
    if constexpr (has_mask_register<hn::Mask<AnyTag>>) {
      return hn::Compress(v, mask_of(tag, bits));
    } else {
      // A mask would be made of bits, and bits of the mask.
      return hn::CompressBits(v, reinterpret_cast<const std::uint8_t*>(&bits));
    }
  }

  static HWY_INLINE VectorMask first(Index n) {
    return hn::FirstN(Tag{}, static_cast<std::size_t>(n));
  }
};

template <class Real>
using LanesOf = SimdLanes<Real>;

/// Most items that one thread takes at a time; fewer where there are not many.
inline constexpr Index item_block = 64;

/// Runs functor(group, item, scratch) for every item, items spread over threads.
template <class Functor, class Real>
void for_each_with_lanes(const Host& exec, Index num_items, const Functor& functor,
                         SimdLanes<Real> lanes) {
  const Index block = std::clamp<Index>(num_items / (Index{threads_of(exec)} * 8), 1, item_block);
  for_each_block(exec, num_items, block, [&](Index first, Index last) HWY_ATTR {
    typename Functor::Scratch scratch;
    for (Index item = first; item < last; ++item) functor(lanes, item, scratch);
  });
}

}  // namespace zhalo::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
