/// Lanes: how one text of a hot loop runs on a vector register, a warp, and a thread per lane.
///
/// A type of Lanes has `size` lanes (1 to 32; no text may assume one). A `Lane` is one Real per
/// lane; everything else is uniform: the same in all lanes. A comparison of Lane values gives a
/// `Mask`, which `ballot` turns into an integer with one bit per lane.
///
///   static constexpr int size;  using real, Lane, Mask;
///   Lane load(const Real* p)       lane i gets p[i]; `size` elements must be readable
///   Lane load_or(const Real* p, Index n, Real v)
///                                  lane i gets i < n ? p[i] : v
///   Lane broadcast(Real v)
///   uint64 ballot(Mask m)          bit i = lane i; needs all lanes
///   bool any(bool b)               true in all lanes if true in one; needs all lanes
///   void compress(uint64 bits, Lane v, Real* to)
///                                  the lanes whose bit is set, one behind the other, to shared
///                                  memory
///   void compress_indices(uint64 bits, LocalIndex first, LocalIndex* to)
///                                  the same for first + lane
///   Real reduce_min(Lane v), reduce_max(Lane v)
///                                  needs all lanes
///   void move(const T* from, Index n, T* to)
///                                  moves n elements, to the same or a higher address; memory of
///                                  one warp, in order
///   void one(f)                    f() in a single lane
///   void for_each_lane(Index n, f) f(i) for i in [0, n), shared out to the lanes
///   void sync()                    orders shared memory between lanes
///   static Lane abs(a), min(a, b), max(a, b), fma(a, b, c) = a * b + c, rounded once;
///   operators - * <=
///
/// SimdLanes: kernels/host. WarpLanes: kernels/cuda. EmulatedLanes: tests/lanes.
#pragma once

#include <cstdint>

#include "zhalo/core/config.hpp"
#include "zhalo/core/types.hpp"

#if !ZHALO_ON_DEVICE
#include <bit>
#endif

namespace zhalo::kernels {

/// Texts that use Lanes are compiled once per vector target on the host. LANES_TARGET names the
/// namespace of each compilation, and LANES_BEGIN / LANES_END enclose the text (files *.inl.hpp,
/// which have no include guard on purpose).
#if defined(__CUDACC__)
#define ZHALO_LANES_TARGET device
#define ZHALO_LANES_BEGIN
#define ZHALO_LANES_END
#elif defined(ZHALO_EMULATED_LANES)
#define ZHALO_LANES_TARGET emulated
#define ZHALO_LANES_BEGIN
#define ZHALO_LANES_END
#else
#define ZHALO_LANES_TARGET HWY_NAMESPACE
#define ZHALO_LANES_BEGIN HWY_BEFORE_NAMESPACE();
#define ZHALO_LANES_END HWY_AFTER_NAMESPACE();
#endif

ZHALO_HD inline int lowest_bit(std::uint64_t bits) {
#if ZHALO_ON_DEVICE
  return __ffsll(static_cast<long long>(bits)) - 1;
#else
  return std::countr_zero(bits);
#endif
}

ZHALO_HD inline int highest_bit(std::uint64_t bits) {
#if ZHALO_ON_DEVICE
  return 63 - __clzll(static_cast<long long>(bits));
#else
  return 63 - std::countl_zero(bits);
#endif
}

ZHALO_HD inline int count_bits(std::uint64_t bits) {
#if ZHALO_ON_DEVICE
  return __popcll(bits);
#else
  return std::popcount(bits);
#endif
}

/// The lowest n bits, n <= 64.
ZHALO_HD inline std::uint64_t first_bits(Index n) {
  return n >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << static_cast<unsigned>(n)) - 1;
}

}  // namespace zhalo::kernels
