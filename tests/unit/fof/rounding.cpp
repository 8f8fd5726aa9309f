/// Pairs whose distance is so close to the linking length that float arithmetic decides them
/// wrongly: the definition is in float64.
#include <catch2/catch.hpp>

#include <algorithm>

#include "tests/support/random.hpp"
#include "tests/support/run_fof.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;
using Label = std::vector<Index>;

/// What plain float arithmetic would say.
bool friends_in_float(const PointSet<float>& pair) {
  float d[3];
  for (int axis = 0; axis < 3; ++axis) {
    d[axis] = std::abs(pair.at(0, axis) - pair.at(1, axis));
    if (pair.box.periodic[axis])
      d[axis] = std::min(d[axis], static_cast<float>(pair.box.length[axis]) - d[axis]);
  }
  const float b = static_cast<float>(pair.linking_length);
  return std::fma(d[2], d[2], std::fma(d[1], d[1], d[0] * d[0])) <= b * b;
}

/// Two particles about one linking length apart, on both sides of an edge if `across`.
PointSet<float> random_pair(Random& random, const Box& box, double linking_length, bool across) {
  PointSet<float> pair{{}, box, linking_length};
  Vec3d direction;
  double norm = 0;
  while (norm < 0.1 || norm > 1) {
    for (int axis = 0; axis < 3; ++axis) direction[axis] = random.uniform(-1, 1);
    norm = std::sqrt(direction[0] * direction[0] + direction[1] * direction[1] +
                     direction[2] * direction[2]);
  }
  Vec3d from;
  for (int axis = 0; axis < 3; ++axis)
    from[axis] = box.lo[axis] + random.uniform(0.45, 0.55) * box.length[axis];
  const int edge = static_cast<int>(random.below(3));
  const double step = linking_length / norm;
  if (across) from[edge] = box.lo[edge] + random.uniform(0, std::abs(direction[edge]) * step);
  if (across) direction[edge] = -std::abs(direction[edge]);
  for (int axis = 0; axis < 3; ++axis) pair.pos.push_back(static_cast<float>(from[axis]));
  for (int axis = 0; axis < 3; ++axis) {
    double to = from[axis] + direction[axis] * step;
    if (to < box.lo[axis]) to += box.length[axis];
    pair.pos.push_back(static_cast<float>(to));
  }
  return pair;
}

/// The pair alone; and each of its particles forty times, so that it is decided leaf against leaf
/// as well.
void check_pair(const PointSet<float>& pair) {
  const bool friends = are_friends(pair, 0, 1);
  CAPTURE(pair.pos, pair.linking_length, pair.box.length.at, friends);
  const Label one_group(80, 0);
  Label two_groups(80, 0);
  std::fill(two_groups.begin() + 40, two_groups.end(), 40);
  PointSet<float> many{{}, pair.box, pair.linking_length};
  for (int copy = 0; copy < 80; ++copy) {
    const auto from = pair.pos.begin() + (copy < 40 ? 0 : 3);
    many.pos.insert(many.pos.end(), from, from + 3);
  }
  REQUIRE(fof_labels(pair, {1, 1}) == (friends ? Label{0, 0} : Label{0, 1}));
  REQUIRE(fof_labels(pair, {32, 1}) == (friends ? Label{0, 0} : Label{0, 1}));
  REQUIRE(fof_labels(many, {16, 1}) == (friends ? one_group : two_groups));
}

Box cube(double lo, double length) {
  Box box = Box::periodic_cube(length);
  box.lo = {{lo, lo, lo}};
  return box;
}

constexpr int wanted_pairs = ZHALO_CHECKED ? 6 : 300;

}  // namespace

TEST_CASE("float pairs that float arithmetic decides wrongly are decided as in float64") {
  const Box box = GENERATE(cube(0, 1), cube(-37.5, 75), cube(0, 170.3), cube(100.1, 0.3));
  const double part = GENERATE(1e-5, 1e-3, 0.1, 0.3, 0.49);
  const bool across = GENERATE(false, true);
  const double b = part * box.length[0];
  Random random(1);
  int found[2] = {0, 0};
  for (int tries = 0; tries < 20'000 && found[0] + found[1] < wanted_pairs; ++tries) {
    const PointSet<float> pair = random_pair(random, box, b, across);
    const bool friends = are_friends(pair, 0, 1);
    if (friends_in_float(pair) == friends || count_wrapped(pair) > 0) continue;
    ++found[friends ? 1 : 0];
    check_pair(pair);
  }
  CAPTURE(found[0], found[1], box.length[0], b, across);
  // Where the linking length is few rounding steps of a coordinate, float arithmetic is exact and
  // there is nothing to decide wrongly.
  const bool is_coarse = part < 1e-3 || box.lo[0] > 100;
  if (!is_coarse) CHECK(found[0] + found[1] >= std::min(20, wanted_pairs));
}

TEST_CASE(
    "across an edge, a distance that float arithmetic calls zero may be beyond the linking "
    "length") {
  // Floats near 170.3 are 1.5e-5 apart. The period as a float is the last number inside the box,
  // almost half a step below the edge.
  const float last = 170.3F;
  const double length = static_cast<double>(last) + 0.45 * std::ldexp(1.0, -16);
  const Box box = cube(0, length);
  int num_friends = 0;
  int num_others = 0;
  for (int i = 0; i < 60; ++i) {
    const PointSet<float> pair{{static_cast<float>(i) * 1.2e-7F, 1, 1, last, 1, 1}, box, 1e-5};
    REQUIRE(friends_in_float(pair));
    ++(are_friends(pair, 0, 1) ? num_friends : num_others);
    check_pair(pair);
  }
  CHECK(num_friends > 10);
  CHECK(num_others > 10);
}

TEST_CASE(
    "across an edge far from the origin, where the linking length is less than a rounding step") {
  // Floats near 1e6 are 1/16 apart. Two rows of particles at the smallest and the largest x,
  // friends across the edge only.
  Box box;
  box.lo = {{1e6 + 0.03, 0, 0}};
  box.length = {{0.99, 1, 1}};
  box.periodic[0] = true;
  PointSet<float> points{{}, box, 0.055};
  for (const float x : {1e6F + 0.0625F, 1e6F + 1.0F}) {
    for (int i = 0; i < 64; ++i) {
      points.pos.insert(points.pos.end(), {x, 0.06F * static_cast<float>(i % 16),
                                           0.06F * static_cast<float>(i / 16)});
    }
  }
  Label expected;
  for (Index i = 0; i < 128; ++i) expected.push_back(i % 64);
  CHECK(brute_force_groups(points) == expected);
  for (const int leaf_size : {1, 4, 64}) CHECK(fof_labels(points, {leaf_size, 1}) == expected);
}

TEST_CASE("wrapping moves particles farther apart than they were given") {
  const PointSet<float> points{{-4e-8F, 0, 0, 1e-9F, 0, 0}, Box::periodic_cube(1), 0.1};
  const LaidOut<float> laid_out(points, Layout::rows);
  const Context context;
  const Domain<float> domain(context, laid_out.particles(), points.box);
  const FofOptions linking{.linking_length = points.linking_length};
  const FofResult of_particles =
      friends_of_friends(context, laid_out.particles(), points.box, linking);
  REQUIRE(to_host(context.exec, of_particles.label) == std::vector<Index>{0, 0});
  const FofResult of_domain = friends_of_friends(domain, linking);
  CHECK(to_host(context.exec, of_domain.label) == std::vector<Index>{0, 0});
}

TEST_CASE("double pairs one rounding step around the linking length") {
  Random random(2);
  for (int i = 0; i < 300; ++i) {
    PointSet<double> pair{{}, Box::periodic_cube(1), 0};
    for (int k = 0; k < 6; ++k) pair.pos.push_back(random.uniform());
    pair.linking_length = 0.5;
    Vec3d d;
    for (int axis = 0; axis < 3; ++axis) {
      d[axis] = std::abs(pair.at(0, axis) - pair.at(1, axis));
      d[axis] = std::min(d[axis], 1 - d[axis]);
    }
    const double r = std::sqrt(std::fma(d[2], d[2], std::fma(d[1], d[1], d[0] * d[0])));
    if (r > 0.49) continue;
    for (const double b : {std::nextafter(r, 0), r, std::nextafter(r, 1)}) {
      pair.linking_length = b;
      const Label expected = are_friends(pair, 0, 1) ? Label{0, 0} : Label{0, 1};
      REQUIRE(fof_labels(pair, {1, 1}) == expected);
      REQUIRE(fof_labels(pair, {32, 1}) == expected);
    }
  }
}
