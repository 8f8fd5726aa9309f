/// Reproducible particles in the periodic unit cube, for benchmarks and tests.
///
/// | kind      | in haloes | density of a halo        | largest halo |
/// |-----------|-----------|--------------------------|--------------|
/// | uniform   | none      |                          |              |
/// | clustered | 60%       | 200 times the mean of all | num / 50     |
/// | dense     | 95%       | 1000 times the mean      | num / 10     |
///
/// Particles outside haloes are uniform. Haloes are spheres with uniform centres. Their numbers of
/// members M follow dn/dM ~ M^-1.9 from 20 to the largest. The radius R of a halo is such that its
/// density inside R is the given multiple of the mean. Every other halo is isothermal
/// (density ~ 1/r^2). The others are NFW profiles (Navarro, Frenk & White 1997, ApJ 490, 493) of
/// concentration R / r_s = 10. The particles are in random order.
///
/// The same kind, number and seed give the same bits on every machine. The generator is
/// std::mt19937_64. After it come only operations that IEEE 754 rounds correctly (+ - * / sqrt),
/// without fused multiply-adds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "zhalo/core/types.hpp"

namespace zhalo::points {

enum class Kind { uniform, clustered, dense };

/// "uniform", "clustered" or "dense"; InputError for another name.
Kind kind_of(const std::string& name);

/// The numbers of the table above.
struct Recipe {
  double fraction_in_haloes = 0;
  double density = 0;      ///< in a halo, in units of the mean density of all particles
  Index largest_part = 1;  ///< the largest halo has at most num / largest_part members
};
Recipe recipe_of(Kind kind);

inline constexpr Index smallest_halo = 20;
inline constexpr double concentration = 10;

struct Halo {
  Vec3d centre;
  double radius = 0;
  Index num = 0;
  bool is_nfw = false;
};

struct Points {
  std::vector<float> pos;    ///< (num, 3), row by row, in [0, 1)
  std::vector<Halo> haloes;  ///< in the order in which they were drawn
};

/// Makes `num` particles. Haloes need num >= 20 * largest_part; with fewer particles all are
/// uniform. InputError for a negative number.
Points make_points(Kind kind, Index num, std::uint64_t seed = 1);

}  // namespace zhalo::points
