/// Values that are equal bit for bit: also what is not a number.
#pragma once

#include <cstring>
#include <type_traits>
#include <vector>

namespace zhalo::testing {

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  static_assert(std::is_trivially_copyable_v<T>);
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

}  // namespace zhalo::testing
