/// The generator of points keeps what its header promises: densities, profiles, numbers, order, and
/// the same bits everywhere.
#include "zhalo/ics/points.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <numbers>

#include "zhalo/core/error.hpp"

namespace {

using namespace zhalo;
using points::Halo;
using points::Kind;
using points::Points;

Index num(const Points& made) { return static_cast<Index>(made.pos.size() / 3); }

double periodic(double difference) { return difference - std::round(difference); }

/// Particles with first <= index < last that are within `radius` of the centre.
Index count_inside(const Points& made, const Halo& halo, double radius, Index first, Index last) {
  Index count = 0;
  for (Index i = first; i < last; ++i) {
    double squared = 0;
    for (int axis = 0; axis < 3; ++axis) {
      const double d =
          periodic(double{made.pos[static_cast<std::size_t>(3 * i + axis)]} - halo.centre[axis]);
      squared += d * d;
    }
    count += squared <= radius * radius ? 1 : 0;
  }
  return count;
}
Index count_inside(const Points& made, const Halo& halo, double radius) {
  return count_inside(made, halo, radius, 0, num(made));
}

double sphere(double radius) { return 4 * std::numbers::pi / 3 * radius * radius * radius; }

/// The largest halo of one profile.
Halo largest(const Points& made, bool is_nfw) {
  Halo result;
  for (const Halo& halo : made.haloes) {
    if (halo.is_nfw == is_nfw && halo.num > result.num) result = halo;
  }
  return result;
}

/// FNV-1a over the bits, little end first.
std::uint64_t hash(const std::vector<float>& values) {
  std::uint64_t result = 0xcbf29ce484222325;
  for (const float value : values) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    for (int byte = 0; byte < 4; ++byte)
      result = (result ^ ((bits >> (8 * byte)) & 0xff)) * 0x100000001b3;
  }
  return result;
}

/// Mass of an NFW halo inside x = r / r_s, up to a factor.
double nfw_mass(double x) { return std::log(1 + x) - x / (1 + x); }

}  // namespace

TEST_CASE("every kind has the number asked for, inside the cube") {
  const Kind kind = GENERATE(Kind::uniform, Kind::clustered, Kind::dense);
  const Index asked = GENERATE(0, 1, 19, 1000, 50'000);
  const Points made = points::make_points(kind, asked);
  REQUIRE(num(made) == asked);
  CHECK(
      std::all_of(made.pos.begin(), made.pos.end(), [](float x) { return x >= 0.0F && x < 1.0F; }));
}

TEST_CASE("the same seed gives the same bits on every machine, another seed others") {
  CHECK(hash(points::make_points(Kind::uniform, 10'000).pos) == 0x04bfdd0e5a49fea9);
  CHECK(hash(points::make_points(Kind::clustered, 100'000).pos) == 0xb977d36faf66cff7);
  CHECK(hash(points::make_points(Kind::dense, 100'000).pos) == 0x80ce64b4ffcab9c9);
  CHECK(points::make_points(Kind::clustered, 10'000, 2).pos !=
        points::make_points(Kind::clustered, 10'000, 1).pos);
}

TEST_CASE("haloes hold the promised fraction, between the smallest and the largest size") {
  const auto [kind, fraction, part] =
      GENERATE(table<Kind, double, Index>({{Kind::clustered, 0.60, 50}, {Kind::dense, 0.95, 10}}));
  constexpr Index asked = 1'000'000;
  const Points made = points::make_points(kind, asked);
  Index members = 0;
  for (const Halo& halo : made.haloes) members += halo.num;
  const double wanted = fraction * asked;
  CHECK(static_cast<double>(members) <= wanted);
  CHECK(static_cast<double>(members) > wanted - points::smallest_halo);
  for (const Halo& halo : made.haloes) {
    REQUIRE(halo.num >= points::smallest_halo);
    REQUIRE(halo.num <= asked / part);
  }
  CHECK(points::make_points(Kind::uniform, asked).haloes.empty());
}

TEST_CASE("a halo is as much denser than the mean as promised") {
  const auto [kind, density] =
      GENERATE(table<Kind, double>({{Kind::clustered, 200}, {Kind::dense, 1000}}));
  const Points made = points::make_points(kind, 300'000);
  for (const bool is_nfw : {false, true}) {
    const Halo halo = largest(made, is_nfw);
    REQUIRE(halo.num > 1000);
    // A little more than the radius: positions are rounded to float. Neighbours and the uniform
    // particles come on top.
    const double inside = static_cast<double>(count_inside(made, halo, halo.radius * 1.001));
    CHECK(inside >= static_cast<double>(halo.num));
    CHECK(inside / (static_cast<double>(num(made)) * sphere(halo.radius)) ==
          Approx(density).epsilon(0.05));
  }
}

TEST_CASE("haloes have isothermal and NFW profiles") {
  const Points made = points::make_points(Kind::dense, 400'000);
  const bool is_nfw = GENERATE(false, true);
  const Halo halo = largest(made, is_nfw);
  REQUIRE(halo.num > 5000);
  for (const double part : {0.1, 0.3, 0.5, 0.8}) {
    const double expected =
        is_nfw ? nfw_mass(points::concentration * part) / nfw_mass(points::concentration) : part;
    const double found = static_cast<double>(count_inside(made, halo, part * halo.radius)) /
                         static_cast<double>(halo.num);
    const double deviation = std::sqrt(expected * (1 - expected) / static_cast<double>(halo.num));
    // Other haloes may overlap: a hundredth.
    CHECK(found > expected - 4 * deviation);
    CHECK(found < expected + 4 * deviation + 0.01);
  }
}

TEST_CASE("the numbers of members follow dn/dM ~ M^-1.9") {
  const Points made = points::make_points(Kind::clustered, 5'000'000);
  const double total = static_cast<double>(made.haloes.size());
  REQUIRE(total > 5000);
  const auto above = [](double size) { return std::pow(size, -0.9); };
  const double end = 5'000'000.0 / 50 + 1;
  const std::array<double, 8> edges{20, 30, 50, 100, 300, 1000, 5000, end};
  double chi2 = 0;
  for (std::size_t bin = 0; bin + 1 < edges.size(); ++bin) {
    const double expected =
        total * (above(edges[bin]) - above(edges[bin + 1])) / (above(20) - above(end));
    const auto inside = [&](const Halo& halo) {
      return static_cast<double>(halo.num) >= edges[bin] &&
             static_cast<double>(halo.num) < edges[bin + 1];
    };
    const double found =
        static_cast<double>(std::count_if(made.haloes.begin(), made.haloes.end(), inside));
    chi2 += (found - expected) * (found - expected) / expected;
  }
  // 6 degrees of freedom: above 22.5 in one of a thousand samples of the right distribution, and
  // above 60 with a slope of 1.8 or 2.
  CHECK(chi2 < 22.5);
}

TEST_CASE("uniform particles fill the cube evenly, in random order") {
  constexpr Index asked = 200'000;
  constexpr int cells = 8;
  const Points made = points::make_points(Kind::uniform, asked);
  std::array<double, cells * cells * cells> found{};
  for (std::size_t i = 0; i < made.pos.size(); i += 3) {
    std::size_t cell = 0;
    for (std::size_t axis = 0; axis < 3; ++axis)
      cell = cell * cells + static_cast<std::size_t>(made.pos[i + axis] * cells);
    found[cell] += 1;
  }
  const double expected = static_cast<double>(asked) / static_cast<double>(found.size());
  double chi2 = 0;
  for (const double count : found) chi2 += (count - expected) * (count - expected) / expected;
  // 511 degrees of freedom: mean 511, standard deviation 32.
  CHECK(chi2 > 511 - 4 * 32);
  CHECK(chi2 < 511 + 4 * 32);
}

TEST_CASE("members of a halo are spread over the whole order") {
  const Points made = points::make_points(Kind::clustered, 300'000);
  const Halo halo = largest(made, true);
  const double members = static_cast<double>(count_inside(made, halo, halo.radius));
  for (Index tenth = 0; tenth < 10; ++tenth) {
    const Index first = num(made) / 10 * tenth;
    const double part =
        static_cast<double>(count_inside(made, halo, halo.radius, first, first + num(made) / 10));
    CHECK(std::abs(part - members / 10) < 5 * std::sqrt(members / 10));
  }
}

TEST_CASE("kinds have names") {
  CHECK(points::kind_of("uniform") == Kind::uniform);
  CHECK(points::kind_of("clustered") == Kind::clustered);
  CHECK(points::kind_of("dense") == Kind::dense);
  CHECK_THROWS_AS(points::kind_of("lumpy"), InputError);
  CHECK_THROWS_AS(points::make_points(static_cast<Kind>(3), 5), InputError);
}

TEST_CASE("a negative number of points is refused") {
  CHECK_THROWS_AS(points::make_points(Kind::uniform, -5), InputError);
  CHECK(points::make_points(Kind::clustered, 0).pos.empty());
}
