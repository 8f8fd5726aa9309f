#include "zhalo/ics/points.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <utility>

#include "src/core/validate.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::points {
namespace {

/// std::mt19937_64 is the same everywhere; the distributions of <random> are not, so these are our
/// own.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  /// In [0, 1).
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }

  /// In [0, end), for end far below 2^53.
  std::size_t below(std::size_t end) {
    return static_cast<std::size_t>(uniform() * static_cast<double>(end));
  }

  Vec3d in_cube() {
    const double x = uniform();
    const double y = uniform();
    const double z = uniform();
    return {x, y, z};
  }

  /// A unit vector: points of a cube that lie in its ball have directions without preference.
  Vec3d direction() {
    for (;;) {
      const Vec3d v = in_cube() * 2.0 - Vec3d{1, 1, 1};
      const double squared = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
      if (squared <= 1 && squared > 1e-6) return v * (1 / std::sqrt(squared));
    }
  }

 private:
  std::mt19937_64 engine_;
};

/// By Newton's method; std::cbrt differs between C libraries.
double cube_root(double x) {
  double root = 1;
  for (int i = 0; i < 200; ++i) root = (2 * root + x / (root * root)) / 3;
  return root;
}

/// A number of members with dn/dM ~ M^-1.9 in [smallest_halo, largest]: M from M^-2 by inversion,
/// kept with probability (M / largest)^0.1, written with a tenth power because std::pow differs
/// between C libraries.
Index draw_size(Random& random, Index largest) {
  const double low = 1 / static_cast<double>(largest + 1);
  const double high = 1 / static_cast<double>(smallest_halo);
  for (;;) {
    const double size = 1 / (low + random.uniform() * (high - low));
    const double u = random.uniform();
    const double u2 = u * u;
    const double u5 = u2 * u2 * u;
    if (u5 * u5 * static_cast<double>(largest) < size)
      return std::min(largest, static_cast<Index>(size));
  }
}

/// Distance from the centre in units of the halo's radius. Isothermal: the mass inside r grows as
/// r. NFW: it grows as x / (1 + x)^2 per dx, at most 1/4, in x = r / r_s; by rejection.
double draw_radius(Random& random, bool is_nfw) {
  if (!is_nfw) return random.uniform();
  for (;;) {
    const double x = concentration * random.uniform();
    if (random.uniform() * (1 + x) * (1 + x) < 4 * x) return x / concentration;
  }
}

/// To float, inside [0, 1): what rounds to 1 is the periodic image 0.
float wrapped(double x) {
  const float rounded = static_cast<float>(x - std::floor(x));
  return rounded < 1.0F ? rounded : 0.0F;
}

void append(std::vector<float>& pos, const Vec3d& x) {
  for (int axis = 0; axis < 3; ++axis) pos.push_back(wrapped(x[axis]));
}

std::vector<Halo> draw_haloes(Random& random, const Recipe& recipe, Index num) {
  std::vector<Halo> haloes;
  Index left = static_cast<Index>(recipe.fraction_in_haloes * static_cast<double>(num));
  const Index largest = num / recipe.largest_part;
  while (largest >= smallest_halo && left >= smallest_halo) {
    Halo halo;
    halo.num = std::min(left, draw_size(random, largest));
    halo.centre = random.in_cube();
    const double volume =
        static_cast<double>(halo.num) / (recipe.density * static_cast<double>(num));
    halo.radius = cube_root(volume * 3 / (4 * std::numbers::pi));
    halo.is_nfw = haloes.size() % 2 == 1;
    haloes.push_back(halo);
    left -= halo.num;
  }
  return haloes;
}

void shuffle(Random& random, std::vector<float>& pos) {
  for (std::size_t i = pos.size() / 3; i > 1; --i) {
    const std::size_t a = 3 * (i - 1);
    const std::size_t b = 3 * random.below(i);
    for (std::size_t axis = 0; axis < 3; ++axis) std::swap(pos[a + axis], pos[b + axis]);
  }
}

}  // namespace

Kind kind_of(const std::string& name) {
  if (name == "uniform") return Kind::uniform;
  if (name == "clustered") return Kind::clustered;
  if (name == "dense") return Kind::dense;
  throw InputError("kind of points is '" + name + "' (must be uniform, clustered or dense)");
}

Recipe recipe_of(Kind kind) {
  switch (kind) {
    case Kind::clustered: return {0.60, 200, 50};
    case Kind::dense: return {0.95, 1000, 10};
    case Kind::uniform: break;
  }
  return {};
}

Points make_points(Kind kind, Index num, std::uint64_t seed) {
  validate_enumerator(kind, Kind::dense, "the kind of points");
  if (num < 0)
    throw InputError("the number of points is " + std::to_string(num) + " (must not be negative)");
  Random random(seed);
  Points points;
  points.pos.reserve(static_cast<std::size_t>(3 * num));
  if (kind != Kind::uniform) points.haloes = draw_haloes(random, recipe_of(kind), num);
  Index made = 0;
  for (const Halo& halo : points.haloes) {
    for (Index i = 0; i < halo.num; ++i) {
      const double radius = halo.radius * draw_radius(random, halo.is_nfw);
      append(points.pos, halo.centre + random.direction() * radius);
    }
    made += halo.num;
  }
  for (; made < num; ++made) append(points.pos, random.in_cube());
  shuffle(random, points.pos);
  return points;
}

}  // namespace zhalo::points
