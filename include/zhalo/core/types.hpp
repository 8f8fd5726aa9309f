/// Index types. Everything that counts over all ranks is 64-bit; positions inside one rank's sorted
/// array are 32-bit, which halves the memory of sort, tree and union-find (docs/architecture.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "zhalo/core/config.hpp"

namespace zhalo {

/// Counts, offsets, global indices and group labels.
using Index = std::int64_t;

/// Place of a particle in one rank's sorted array.
using LocalIndex = std::uint32_t;

/// Most particles that one rank can hold; more need more ranks.
inline constexpr Index max_local_particles = std::numeric_limits<LocalIndex>::max() - 1023;

/// Group of a particle that belongs to no group in the catalogue.
inline constexpr Index no_group = -1;

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
