// Numbers of which each lane of a warp has a few in registers: a limit for the k smallest of them,
// and their order.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "kernels/lanes/warp_lanes.cuh"

namespace zhalo::kernels {

/// Numbers of float and double that are not negative have the order of their bits.
template <class Real>
struct BitsOfReal {
  using Bits = std::conditional_t<sizeof(Real) == 4, std::int32_t, std::int64_t>;
  static constexpr Real infinity = std::numeric_limits<Real>::infinity();

  static __device__ Bits of(Real value) {
    Bits bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
  }
  static __device__ Real value(Bits bits) {
    Real result;
    memcpy(&result, &bits, sizeof result);
    return result;
  }
  /// The largest number below; -1 below 0.
  static __device__ Real below(Real number) { return number > 0 ? value(of(number) - 1) : -1; }
};

/// A number, and how many of others are not above it.
template <class Real>
struct Limit {
  Real value;
  int count;
};

/// Looks for a limit of some of the lanes' values. Values are not negative.
template <class Real, int num>
struct LimitSearch {
  using Bits = BitsOfReal<Real>;
  const WarpLanes<Real>& lanes;
  const Real (&values)[std::size_t{num}];

  __device__ int count_within(Real limit) const {
    int own = 0;
    ZHALO_UNROLL
    for (int u = 0; u < num; ++u) own += values[u] <= limit ? 1 : 0;
    return lanes.sum(own);
  }

  /// The largest that is finite.
  __device__ Limit<Real> largest() const {
    Real own = 0;
    ZHALO_UNROLL
    for (int u = 0; u < num; ++u)
      own = values[u] < Bits::infinity && own < values[u] ? values[u] : own;
    const Real value = lanes.reduce_max(own);
    return {value, count_within(value)};
  }

  /// A limit for at least `wanted` values, but not for more than `enough` of them, if there is such
  /// a one. Else it is the smallest for as many: some values are equal. `high` is for too many.
  __device__ Limit<Real> between(int wanted, int enough, Limit<Real> high) const {
    Real low = 0;
    for (int step = 0; high.count > enough && step < 12; ++step) {
      const Real middle = (low + high.value) / 2;
      const int count = count_within(middle);
      if (count < wanted) {
        low = middle;
      } else {
        high = {middle, count};
      }
    }
    return high.count > enough ? between_bits(wanted, enough, low, high) : high;
  }

 private:
  /// Halves not the interval but the numbers that it has, until none is left.
  __device__ Limit<Real> between_bits(int wanted, int enough, Real low, Limit<Real> high) const {
    auto too_low = low > 0 ? Bits::of(low) : -1;
    while (high.count > enough) {
      const auto middle = too_low + (Bits::of(high.value) - too_low) / 2;
      if (middle == too_low) break;
      const int count = count_within(Bits::value(middle));
      if (count < wanted) {
        too_low = middle;
      } else {
        high = {Bits::value(middle), count};
      }
    }
    return high;
  }
};

/// One of elements to be sorted.
template <class Real>
struct LaneElement {
  Real value;
  LocalIndex index;
};

namespace bitonic {

/// One step of the sorting network by K. E. Batcher (1968), "Sorting networks and their
/// applications": all pairs whose numbers differ by `step`, in ordered runs of length `run`.
/// Element u of a lane has the number u * 32 + lane.
template <class Real, int num>
__device__ void exchange_lanes(const WarpLanes<Real>& lanes, int run, int step,
                               LaneElement<Real> (&elements)[std::size_t{num}]) {
  ZHALO_UNROLL
  for (int u = 0; u < num; ++u) {
    const int number = u * WarpLanes<Real>::size + WarpLanes<Real>::own();
    LaneElement<Real>& own = elements[u];
    const LaneElement<Real> other{lanes.partner(own.value, step), lanes.partner(own.index, step)};
    const bool wants_smaller = ((number & step) == 0) == ((number & run) == 0);
    const bool takes = wants_smaller ? other.value < own.value : own.value < other.value;
    if (takes) own = other;
  }
}

/// The same for pairs that one lane has.
template <class Real, int num>
__device__ void exchange_own(int run, int distance,
                             LaneElement<Real> (&elements)[std::size_t{num}]) {
  ZHALO_UNROLL
  for (int u = 0; u < num; ++u) {
    const int v = u ^ distance;
    if (v < u || v >= num) continue;
    const bool ascends = (u * WarpLanes<Real>::size & run) == 0;
    const LaneElement<Real> a = elements[u];
    const LaneElement<Real> b = elements[v];
    const bool swaps = ascends ? b.value < a.value : a.value < b.value;
    elements[u] = swaps ? b : a;
    elements[v] = swaps ? a : b;
  }
}

}  // namespace bitonic

/// In ascending order of their values; equal ones are in any order. num: a power of 2.
template <class Real, int num>
__device__ void sort(const WarpLanes<Real>& lanes,
                     LaneElement<Real> (&elements)[std::size_t{num}]) {
  constexpr int size = WarpLanes<Real>::size;
  ZHALO_UNROLL
  for (int run = 2; run <= num * size; run *= 2) {
    ZHALO_UNROLL
    for (int step = run / 2; step > 0; step /= 2) {
      if (step < size) {
        bitonic::exchange_lanes<Real, num>(lanes, run, step, elements);
      } else {
        bitonic::exchange_own<Real, num>(run, step / size, elements);
      }
    }
  }
}

}  // namespace zhalo::kernels
