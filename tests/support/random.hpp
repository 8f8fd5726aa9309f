/// Random numbers for test cases: a seed gives the same case on every machine.
#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <random>

#include "zhalo/core/types.hpp"

namespace zhalo::testing {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t bits() { return engine_(); }
  /// In [0, 1).
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  double uniform(double lo, double hi) { return lo + (hi - lo) * uniform(); }
  /// Evenly in the logarithm.
  double log_uniform(double lo, double hi) { return lo * std::pow(hi / lo, uniform()); }
  /// 0 to end - 1.
  Index below(Index end) { return static_cast<Index>(engine_() % static_cast<std::uint64_t>(end)); }
  bool one_in(Index n) { return below(n) == 0; }
  template <class T>
  T pick(std::initializer_list<T> from) {
    return from.begin()[below(static_cast<Index>(from.size()))];
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace zhalo::testing
