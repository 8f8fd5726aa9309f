/// Comparisons that do not overlook what is not a number.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

namespace zhalo::testing {

/// For the largest of differences: infinity once one of them is not a number.
inline double larger(double largest, double next) {
  if (std::isnan(next)) return std::numeric_limits<double>::infinity();
  return next > largest ? next : largest;
}

/// Equal bit for bit.
template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  static_assert(std::is_trivially_copyable_v<T>);
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

}  // namespace zhalo::testing
