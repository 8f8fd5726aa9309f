/// A small fixed-size vector for host and device.
#pragma once

#include <cstddef>

#include "zhalo/core/config.hpp"

namespace zhalo {

template <class T, int N>
struct Vec {
  T at[static_cast<std::size_t>(N)]{};

  ZHALO_HD constexpr T& operator[](int i) { return at[i]; }
  ZHALO_HD constexpr const T& operator[](int i) const { return at[i]; }

  ZHALO_HD constexpr Vec& operator+=(const Vec& b) {
    for (int i = 0; i < N; ++i) at[i] += b.at[i];
    return *this;
  }
  ZHALO_HD constexpr Vec& operator-=(const Vec& b) {
    for (int i = 0; i < N; ++i) at[i] -= b.at[i];
    return *this;
  }
  ZHALO_HD constexpr Vec& operator*=(T factor) {
    for (int i = 0; i < N; ++i) at[i] *= factor;
    return *this;
  }

  ZHALO_HD friend constexpr Vec operator+(Vec a, const Vec& b) { return a += b; }
  ZHALO_HD friend constexpr Vec operator-(Vec a, const Vec& b) { return a -= b; }
  ZHALO_HD friend constexpr Vec operator*(Vec a, T factor) { return a *= factor; }
  ZHALO_HD friend constexpr bool operator==(const Vec&, const Vec&) = default;
};

using Vec3d = Vec<double, 3>;

}  // namespace zhalo
