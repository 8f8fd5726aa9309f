/// WarpLanes: the 32 threads of a warp, which all run the same text; every collective is reached by
/// all of them.
#pragma once

#include "kernels/lanes/lanes.hpp"

namespace zhalo::kernels {

template <class RealType>
struct WarpLanes {
  using real = RealType;
  using Lane = RealType;
  using Mask = bool;
  static constexpr int size = 32;
  static constexpr unsigned all = 0xffffffffU;

  __device__ Lane load(const real* p) const { return p[lane()]; }
  __device__ Lane load_or(const real* p, Index n, real fallback) const {
    return lane() < n ? p[lane()] : fallback;
  }
  __device__ Lane broadcast(real v) const { return v; }

  __device__ void store(Lane v, real* to) const { to[lane()] = v; }
  __device__ Lane select(Mask m, Lane a, Lane b) const { return m ? a : b; }
  __device__ Lane select(std::uint64_t bits, Lane a, Lane b) const {
    return has_lane(bits) ? a : b;
  }
  __device__ Lane broadcast_index(LocalIndex i) const { return bits_of_index<real>(i); }
  static __device__ LocalIndex index_in(real v) { return index_in_bits(v); }

  __device__ std::uint64_t ballot(Mask m) const { return __ballot_sync(all, m); }
  __device__ bool any(bool b) const { return __any_sync(all, b) != 0; }

  template <std::size_t n>
  __device__ std::uint64_t any_of(const Mask (&m)[n]) const {
    unsigned own = 0;
    ZHALO_UNROLL
    for (std::size_t u = 0; u < n; ++u) own |= static_cast<unsigned>(m[u]) << u;
    return __reduce_or_sync(all, own);
  }

  /// All bits that are set in any lane.
  __device__ std::uint32_t united(std::uint32_t own) const { return __reduce_or_sync(all, own); }
  __device__ std::uint64_t united(std::uint64_t own) const {
    const std::uint64_t high = united(static_cast<std::uint32_t>(own >> size));
    return high << size | united(static_cast<std::uint32_t>(own));
  }

  /// Over all lanes.
  __device__ int sum(int own) const {
    return static_cast<int>(__reduce_add_sync(all, static_cast<unsigned>(own)));
  }

  static constexpr bool keeps_elements = true;
  __device__ real element(Lane v, const real*, int lane_of) const {
    return __shfl_sync(all, v, lane_of);
  }
  template <class F>
  __device__ std::uint64_t filter(std::uint64_t bits, F f) const {
    return __ballot_sync(all, has_lane(bits) && f(lane()));
  }

  template <class T>
  __device__ void compress(std::uint64_t bits, T v, T* to) const {
    if (has_lane(bits)) to[rank_in(bits)] = v;
  }
  __device__ void compress_indices(std::uint64_t bits, LocalIndex first, LocalIndex* to) const {
    if (has_lane(bits)) to[rank_in(bits)] = first + static_cast<LocalIndex>(lane());
  }

  /// From the end on, so that nothing is overwritten before it was read.
  template <class T>
  __device__ void move(const T* from, Index n, T* to) const {
    for (Index end = n; end > 0; end -= size) {
      const Index i = end - 1 - lane();
      const T value = i >= 0 ? from[i] : T{};
      sync();
      if (i >= 0) to[i] = value;
      sync();
    }
  }

  __device__ real reduce_min(Lane v) const {
    for (int step = size / 2; step > 0; step /= 2) v = min(v, __shfl_xor_sync(all, v, step));
    return v;
  }
  __device__ real reduce_max(Lane v) const {
    for (int step = size / 2; step > 0; step /= 2) v = max(v, __shfl_xor_sync(all, v, step));
    return v;
  }

  /// Of the lane whose number differs in the bits of `step`.
  template <class T>
  __device__ T partner(T v, int step) const {
    return __shfl_xor_sync(all, v, step);
  }

  template <class F>
  __device__ void one(F f) const {
    if (lane() == 0) f();
  }
  template <class F>
  __device__ void where(Mask m, F f) const {
    if (m) f(lane());
  }
  template <class F>
  __device__ void for_each_lane(Index n, F f) const {
    for (Index i = lane(); i < n; i += size) f(i);
  }
  template <class F>
  __device__ void for_few(Index n, F f) const {
    const int end = static_cast<int>(n);
    ZHALO_KEEP_LOOP
    for (int i = lane(); i < end; i += size) f(Index{i});
  }
  template <class F>
  __device__ void for_each_in_rows(int num_rows, int num_columns, F f) const {
    const int rows_in_turn = size / num_columns;
    const int columns_in_turn = size - rows_in_turn * num_columns;
    int row = lane() / num_columns;
    int column = lane() - row * num_columns;
    ZHALO_KEEP_LOOP
    while (row < num_rows) {
      f(row, column);
      row += rows_in_turn;
      column += columns_in_turn;
      if (column >= num_columns) {
        column -= num_columns;
        ++row;
      }
    }
  }
  template <class F>
  __device__ void for_each_bit(std::uint64_t bits, F f) const {
    for (int first = 0; bits != 0; first += size, bits >>= size)
      if (has_lane(bits)) f(first + lane());
  }
  __device__ void sync() const { __syncwarp(); }

  static __device__ Lane abs(Lane a) { return fabs(a); }
  static __device__ Lane min(Lane a, Lane b) { return smaller(a, b); }
  static __device__ Lane max(Lane a, Lane b) { return larger(a, b); }
  static __device__ Lane fma(Lane a, Lane b, Lane c) { return fused(a, b, c); }

  /// The number of the thread's own lane, for code that is a warp's alone.
  static __device__ int own() { return lane(); }

 private:
  static __device__ int lane() { return static_cast<int>(threadIdx.x % size); }
  static __device__ bool has_lane(std::uint64_t bits) {
    return (static_cast<std::uint32_t>(bits) >> lane() & 1) != 0;
  }
  /// Lanes before this one whose bit is set.
  static __device__ int rank_in(std::uint64_t bits) {
    const unsigned before = (1U << lane()) - 1;
    return __popc(static_cast<unsigned>(bits) & before);
  }
};

template <class Real>
using LanesOf = WarpLanes<Real>;

}  // namespace zhalo::kernels
