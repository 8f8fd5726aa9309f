/// EmulatedLanes: a host thread per lane, so that texts written for Lanes run as they do on a
/// warp, and ThreadSanitizer sees every sync() that is missing (which neither a vector
/// register in lockstep nor, mostly, a device shows).
///
/// A collective hands values from lane to lane but orders no other memory, as on a device: it uses
/// relaxed atomics only. sync() is a barrier that orders memory. A collective that only some lanes
/// reach hangs: tests need a timeout. One takes about 0.1 ms.
#pragma once

#define ZHALO_EMULATED_LANES

#include <array>
#include <atomic>
#include <barrier>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

#include "kernels/fof.hpp"
#include "kernels/knn.hpp"
#include "kernels/lanes/lanes.hpp"

namespace zhalo::testing {

/// What the lanes of one group share.
template <int N>
class LaneThreads {
 public:
  void sync() { barrier_.arrive_and_wait(); }

  /// Gives `value` of this lane to all; returns read(at), where at(i) is lane i's value. Orders no
  /// other memory.
  template <class T, class Read>
  auto exchange(int lane, T value, const Read& read) {
    static_assert(sizeof(T) <= sizeof(std::uint64_t) && std::is_trivially_copyable_v<T>);
    std::uint64_t word = 0;
    std::memcpy(&word, &value, sizeof value);
    leaf_[static_cast<std::size_t>(lane)].store(word, std::memory_order_relaxed);
    meet();
    const auto result = read([&](int i) {
      const std::uint64_t stored =
          leaf_[static_cast<std::size_t>(i)].load(std::memory_order_relaxed);
      T other;
      std::memcpy(&other, &stored, sizeof other);
      return other;
    });
    meet();
    return result;
  }

 private:
  void meet() {
    const int phase = phase_.load(std::memory_order_relaxed);
    if (arrived_.fetch_add(1, std::memory_order_relaxed) == N - 1) {
      arrived_.store(0, std::memory_order_relaxed);
      phase_.store(phase + 1, std::memory_order_relaxed);
    } else {
      while (phase_.load(std::memory_order_relaxed) == phase) std::this_thread::yield();
    }
  }

  std::barrier<> barrier_{N};
  std::atomic<int> arrived_{0};
  std::atomic<int> phase_{0};
  std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(N)> leaf_{};
};

template <class RealType, int N>
class EmulatedLanes {
 public:
  using real = RealType;
  using Lane = RealType;
  using Mask = bool;
  static constexpr int size = N;

  EmulatedLanes(LaneThreads<N>& lanes, int lane) : lanes_(&lanes), lane_(lane) {}

  Lane load(const real* p) const { return p[lane_]; }
  Lane load_or(const real* p, Index n, real fallback) const {
    return lane_ < n ? p[lane_] : fallback;
  }
  Lane broadcast(real v) const { return v; }

  void store(Lane v, real* to) const { to[lane_] = v; }
  Lane select(Mask m, Lane a, Lane b) const { return m ? a : b; }
  Lane select(std::uint64_t bits, Lane a, Lane b) const { return has(bits) ? a : b; }
  Lane broadcast_index(LocalIndex i) const { return kernels::bits_of_index<real>(i); }
  static LocalIndex index_in(real v) { return kernels::index_in_bits(v); }

  std::uint64_t ballot(Mask m) const {
    return lanes_->exchange(lane_, m, [](auto at) {
      std::uint64_t bits = 0;
      for (int i = 0; i < N; ++i) bits |= std::uint64_t{at(i)} << i;
      return bits;
    });
  }
  bool any(bool b) const { return ballot(b) != 0; }

  template <std::size_t n>
  std::uint64_t any_of(const Mask (&m)[n]) const {
    std::uint64_t found = 0;
    for (std::size_t u = 0; u < n; ++u) found |= std::uint64_t{any(m[u])} << u;
    return found;
  }

  static constexpr bool keeps_elements = true;
  real element(Lane v, const real*, int lane) const {
    return lanes_->exchange(lane_, v, [&](auto at) { return at(lane); });
  }
  template <class F>
  std::uint64_t filter(std::uint64_t bits, F f) const {
    return ballot(has(bits) && f(lane_));
  }

  void compress(std::uint64_t bits, Lane v, real* to) const {
    if (has(bits)) to[rank_in(bits)] = v;
  }
  void compress_indices(std::uint64_t bits, LocalIndex first, LocalIndex* to) const {
    if (has(bits)) to[rank_in(bits)] = first + static_cast<LocalIndex>(lane_);
  }

  template <class T>
  void move(const T* from, Index n, T* to) const {
    for (Index end = n; end > 0; end -= N) {
      const Index i = end - 1 - lane_;
      const T value = i >= 0 ? from[i] : T{};
      sync();
      if (i >= 0) to[i] = value;
      sync();
    }
  }

  real reduce_min(Lane v) const {
    return reduce(v, [](real a, real b) { return min(a, b); });
  }
  real reduce_max(Lane v) const {
    return reduce(v, [](real a, real b) { return max(a, b); });
  }

  template <class F>
  void one(F f) const {
    if (lane_ == 0) f();
  }
  template <class F>
  void where(Mask m, F f) const {
    if (m) f(lane_);
  }
  template <class F>
  void for_each_lane(Index n, F f) const {
    for (Index i = lane_; i < n; i += N) f(i);
  }
  template <class F>
  void for_few(Index n, F f) const {
    for_each_lane(n, f);
  }
  template <class F>
  void for_each_in_rows(int num_rows, int num_columns, F f) const {
    for (int i = lane_; i < num_rows * num_columns; i += N) f(i / num_columns, i % num_columns);
  }
  template <class F>
  void for_each_bit(std::uint64_t bits, F f) const {
    for (int i = lane_; i < 64; i += N)
      if ((bits >> i & 1) != 0) f(i);
  }
  void sync() const { lanes_->sync(); }

  static Lane abs(Lane a) { return std::abs(a); }
  static Lane min(Lane a, Lane b) { return b < a ? b : a; }
  static Lane max(Lane a, Lane b) { return a < b ? b : a; }
  static Lane fma(Lane a, Lane b, Lane c) { return kernels::fused(a, b, c); }

 private:
  bool has(std::uint64_t bits) const { return (bits >> lane_ & 1) != 0; }
  int rank_in(std::uint64_t bits) const {
    return kernels::count_bits(bits & kernels::first_bits(lane_));
  }

  template <class Combine>
  real reduce(Lane v, const Combine& combine) const {
    return lanes_->exchange(lane_, v, [&](auto at) {
      real result = at(0);
      for (int i = 1; i < N; ++i) result = combine(result, at(i));
      return result;
    });
  }

  LaneThreads<N>* lanes_;
  int lane_;
};

/// What a test runs on: so many groups of so many lanes.
template <class RealType, int NumLanes, int NumWarps = 1>
struct Case {
  using Real = RealType;
  using Lanes = EmulatedLanes<Real, NumLanes>;
  static constexpr int num_warps = NumWarps;
};

/// EmulatedLanes that forgets to sync: the negative control.
template <class RealType, int N>
struct UnsyncedLanes : EmulatedLanes<RealType, N> {
  using EmulatedLanes<RealType, N>::EmulatedLanes;
  void sync() const {}
};

/// Runs functor(lanes, item, scratch) for every item, shared out to `num_warps` groups at work at
/// the same time.
template <class Lanes, class Functor>
void for_each_emulated(int num_warps, Index num_items, const Functor& functor) {
  struct Warp {
    LaneThreads<Lanes::size> lanes;
    typename Functor::Scratch scratch;
  };
  std::vector<std::unique_ptr<Warp>> warps;
  std::vector<std::jthread> threads;
  for (int w = 0; w < num_warps; ++w) {
    // Not value-initialised: scratch memory holds anything at first.
    Warp& warp = *warps.emplace_back(new Warp);
    for (int lane = 0; lane < Lanes::size; ++lane) {
      threads.emplace_back([&functor, &warp, w, lane, num_warps, num_items] {
        const Lanes lanes(warp.lanes, lane);
        for (Index item = w; item < num_items; item += num_warps) {
          functor(lanes, item, warp.scratch);
          warp.lanes.sync();  // the next item uses the same scratch memory
        }
      });
    }
  }
}

}  // namespace zhalo::testing

namespace zhalo::kernels::emulated {
template <class Real>
using LanesOf = testing::EmulatedLanes<Real, 32>;
}  // namespace zhalo::kernels::emulated

// After ZHALO_EMULATED_LANES.
#include "kernels/lanes/tree_lanes.inl.hpp"
// After distances.
#include "kernels/common/fof/leaf_pair.inl.hpp"
// After links.
#include "kernels/common/fof/walk.inl.hpp"
#include "kernels/common/knn/walk.inl.hpp"
// After the walk.
#include "kernels/common/knn/first_bounds.inl.hpp"
#include "kernels/common/tree/boxes.inl.hpp"
// After the walk.
#include "kernels/common/knn/best_list.inl.hpp"
#include "kernels/common/knn/few_rows.inl.hpp"
#include "kernels/common/knn/nearest.inl.hpp"
// After nearest.
#include "kernels/common/knn/few_nearest.inl.hpp"
