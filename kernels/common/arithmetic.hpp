/// Arithmetic that host and device spell differently, bisection, atomic operations, Morton keys.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "zhalo/core/config.hpp"
#include "zhalo/core/types.hpp"

#if !ZHALO_ON_DEVICE
#include <bit>
#endif

#if !ZHALO_ON_DEVICE
#include <atomic>
#endif

namespace zhalo::kernels {

/// a * b + c, rounded once.
ZHALO_HD inline float fused(float a, float b, float c) {
#if ZHALO_ON_DEVICE
  return __fmaf_rn(a, b, c);
#else
  return std::fma(a, b, c);
#endif
}
ZHALO_HD inline double fused(double a, double b, double c) {
#if ZHALO_ON_DEVICE
  return __fma_rn(a, b, c);
#else
  return std::fma(a, b, c);
#endif
}

/// The smallest number of Real's that is not below x.
template <class Real>
ZHALO_HD Real smallest_from(double x) {
  const Real nearest = static_cast<Real>(x);
  if constexpr (sizeof(Real) < sizeof(double)) {
    if (static_cast<double>(nearest) < x) return nextafterf(nearest, INFINITY);
  }
  return nearest;
}

/// The smaller and the larger of two numbers, of which none may be NaN. A device has an instruction
/// for those of float; a comparison and a choice are two.
ZHALO_HD inline float smaller(float a, float b) {
#if ZHALO_ON_DEVICE
  return fminf(a, b);
#else
  return b < a ? b : a;
#endif
}
ZHALO_HD inline double smaller(double a, double b) { return b < a ? b : a; }
ZHALO_HD inline float larger(float a, float b) {
#if ZHALO_ON_DEVICE
  return fmaxf(a, b);
#else
  return a < b ? b : a;
#endif
}
ZHALO_HD inline double larger(double a, double b) { return a < b ? b : a; }

/// An index in the bits of a number of the same size or wider, which must not be calculated with.
template <class Real>
ZHALO_HD Real bits_of_index(LocalIndex i) {
  std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t> bits = i;
  Real value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
template <class Real>
ZHALO_HD LocalIndex index_in_bits(Real value) {
  std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t> bits;
  memcpy(&bits, &value, sizeof value);
  return static_cast<LocalIndex>(bits);
}

/// a / b of numbers that are not negative. Devices divide 32-bit numbers several times as fast.
ZHALO_HD inline Index quotient(Index a, Index b) {
  if (((a | b) >> 32) == 0) return static_cast<std::uint32_t>(a) / static_cast<std::uint32_t>(b);
  return a / b;
}

/// Along an axis.
template <class Real>
struct Interval {
  Real lo;
  Real hi;
};

/// The gap between two intervals, or between one and the nearest image of the other; 0 if they
/// meet. The period is infinite where nothing is periodic.
template <class Real>
ZHALO_HD Real gap_between(const Interval<Real>& a, const Interval<Real>& b, Real period) {
  const Real below = b.lo - a.hi;
  const Real above = a.lo - b.hi;
  const Real direct = below > above ? below : above;
  const Real image = period - ((a.hi > b.hi ? a.hi : b.hi) - (a.lo < b.lo ? a.lo : b.lo));
  const Real gap = direct < image ? direct : image;
  return gap > 0 ? gap : Real{0};
}

ZHALO_HD inline int lowest_bit(std::uint64_t bits) {
#if ZHALO_ON_DEVICE
  return __ffsll(static_cast<long long>(bits)) - 1;
#else
  return std::countr_zero(bits);
#endif
}

/// On a device half the instructions.
ZHALO_HD inline int lowest_bit(std::uint32_t bits) {
#if ZHALO_ON_DEVICE
  return __ffs(static_cast<int>(bits)) - 1;
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

ZHALO_HD inline int count_bits(std::uint32_t bits) {
#if ZHALO_ON_DEVICE
  return __popc(bits);
#else
  return std::popcount(bits);
#endif
}

/// The lowest n bits, n <= 64.
ZHALO_HD inline std::uint64_t first_bits(Index n) {
  return n >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << static_cast<unsigned>(n)) - 1;
}

/// First index in [0, end) at which `reached` holds, or `end`; it holds from some index on.
template <class Reached>
ZHALO_HD Index first_index_where(Index end, const Reached& reached) {
  Index low = 0;
  Index high = end;
  while (low < high) {
    const Index middle = low + (high - low) / 2;
    if (reached(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// Relaxed atomic operations on plain memory, the same on host and device. None orders other
// memory.
//
// On a device, loads and stores are volatile. The PTX manual gives ld.volatile and st.volatile the
// meaning of relaxed ones at system scope. So no stale line of a multiprocessor's own cache can
// answer. Together with atomicCAS and atomicMin (relaxed, device scope) they are free of data
// races.

template <class T>
ZHALO_HD T atomic_load(const T& from) {
#if ZHALO_ON_DEVICE
  return *const_cast<const volatile T*>(&from);
#else
  return std::atomic_ref<T>(const_cast<T&>(from)).load(std::memory_order_relaxed);
#endif
}

template <class T>
ZHALO_HD void atomic_store(T& to, T value) {
#if ZHALO_ON_DEVICE
  *const_cast<volatile T*>(&to) = value;
#else
  std::atomic_ref<T>(to).store(value, std::memory_order_relaxed);
#endif
}

/// Replaces `expected` by `desired`; returns what was there.
ZHALO_HD inline LocalIndex atomic_compare_exchange(LocalIndex& at, LocalIndex expected,
                                                   LocalIndex desired) {
#if ZHALO_ON_DEVICE
  return atomicCAS(&at, expected, desired);
#else
  std::atomic_ref<LocalIndex>(at).compare_exchange_strong(expected, desired,
                                                          std::memory_order_relaxed);
  return expected;
#endif
}

template <class T>
ZHALO_HD void atomic_min(T& at, T value) {
#if ZHALO_ON_DEVICE
  // Most values change nothing, and atomics on one address queue up where loads do not.
  if (!(value < atomic_load(at))) return;
  if constexpr (sizeof(T) == sizeof(long long)) {
    static_assert(std::is_signed_v<T>);
    atomicMin(reinterpret_cast<long long*>(&at), static_cast<long long>(value));
  } else {
    atomicMin(&at, value);
  }
#else
  const std::atomic_ref<T> ref(at);
  T seen = ref.load(std::memory_order_relaxed);
  while (value < seen && !ref.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
#endif
}

template <class T>
ZHALO_HD void atomic_add(T& at, T value) {
#if ZHALO_ON_DEVICE
  if constexpr (sizeof(T) == sizeof(long long)) {
    static_assert(std::is_integral_v<T>);
    atomicAdd(reinterpret_cast<unsigned long long*>(&at), static_cast<unsigned long long>(value));
  } else {
    atomicAdd(&at, value);
  }
#else
  std::atomic_ref<T>(at).fetch_add(value, std::memory_order_relaxed);
#endif
}

// Morton (Z-order) keys: the bits of the cell numbers, interleaved, those of x highest.

/// Two zero bits behind each of the lowest 21 bits.
ZHALO_HD constexpr std::uint64_t spread_by_3(std::uint64_t x) {
  x &= 0x1fffffU;
  x = (x | x << 32) & 0x001f00000000ffffU;
  x = (x | x << 16) & 0x001f0000ff0000ffU;
  x = (x | x << 8) & 0x100f00f00f00f00fU;
  x = (x | x << 4) & 0x10c30c30c30c30c3U;
  x = (x | x << 2) & 0x1249249249249249U;
  return x;
}

/// One zero bit behind each of the lowest 32 bits.
ZHALO_HD constexpr std::uint64_t spread_by_2(std::uint64_t x) {
  x &= 0xffffffffU;
  x = (x | x << 16) & 0x0000ffff0000ffffU;
  x = (x | x << 8) & 0x00ff00ff00ff00ffU;
  x = (x | x << 4) & 0x0f0f0f0f0f0f0f0fU;
  x = (x | x << 2) & 0x3333333333333333U;
  x = (x | x << 1) & 0x5555555555555555U;
  return x;
}

ZHALO_HD constexpr std::uint64_t morton3(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
  return spread_by_3(x) << 2 | spread_by_3(y) << 1 | spread_by_3(z);
}

ZHALO_HD constexpr std::uint64_t morton2(std::uint32_t x, std::uint32_t y) {
  return spread_by_2(x) << 1 | spread_by_2(y);
}

/// How many of the `bits` bits of two keys agree, from the highest on.
ZHALO_HD inline int common_prefix(std::uint64_t a, std::uint64_t b, int bits) {
  const std::uint64_t differ = a ^ b;
  if (differ == 0) return bits;
  return bits - 1 - highest_bit(differ);
}

}  // namespace zhalo::kernels
