/// The oracles themselves: brute force gives what can be counted by hand, and the verifier refuses
/// every kind of wrong label.
#include <catch2/catch.hpp>

#include "tests/support/brute_force.hpp"
#include "tests/support/point_sets.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;
using Label = std::vector<Index>;

/// Particles on a line, unbounded, with friends at distance 1.
PointSet<double> line(const std::vector<double>& x) {
  PointSet<double> points{{}, Box::unbounded(2), 1.0};
  for (const double at : x) points.pos.insert(points.pos.end(), {at, 0.0});
  return points;
}

}  // namespace

TEST_CASE("brute force: groups that one can see") {
  CHECK(brute_force_groups(line({})) == Label{});
  CHECK(brute_force_groups(line({5})) == Label{0});
  CHECK(brute_force_groups(line({0, 1})) == Label{0, 0});
  CHECK(brute_force_groups(line({0, 1.0000001})) == Label{0, 1});
  CHECK(brute_force_groups(line({0, 2, 1})) == Label{0, 0, 0});
  CHECK(brute_force_groups(line({9, 0, 8, 3, 1, 7, 4})) == Label{0, 1, 0, 3, 1, 0, 3});
}

TEST_CASE("brute force: friends across periodic edges and corners") {
  PointSet<double> points{{0.1, 0.1, 9.9, 9.9, 5, 5}, Box::periodic_cube(10, 2), 0.3};
  CHECK(brute_force_groups(points) == Label{0, 0, 2});
  points.linking_length = 0.28;
  CHECK(brute_force_groups(points) == Label{0, 1, 2});
  points.linking_length = 0.3;
  points.box.periodic[1] = false;
  CHECK(brute_force_groups(points) == Label{0, 1, 2});
}

TEST_CASE(
    "brute force: particles beyond a periodic edge are moved inside, the upper edge is the lower "
    "one") {
  const PointSet<double> points{{0, 5, 10, 5, -0.25, 5, 20.25, 5}, Box::periodic_cube(10, 2), 0.25};
  CHECK(brute_force_groups(points) == Label{0, 0, 0, 0});
  CHECK(count_wrapped(points) == 3);
}

TEST_CASE("verifier: accepts the groups and nothing else") {
  const PointSet<double> points = line({0, 1, 2, 4, 5, 9});
  CHECK(are_fof_groups({0, 0, 0, 3, 3, 5}, points));
  CHECK_FALSE(are_fof_groups({0, 0, 2, 3, 3, 5}, points));     // split between friends
  CHECK_FALSE(are_fof_groups({0, 1, 2, 3, 4, 5}, points));     // all split
  CHECK_FALSE(are_fof_groups({0, 0, 0, 0, 0, 5}, points));     // merged
  CHECK_FALSE(are_fof_groups({0, 0, 0, 0, 0, 0}, points));     // all merged
  CHECK_FALSE(are_fof_groups({1, 1, 1, 3, 3, 5}, points));     // not the smallest member
  CHECK_FALSE(are_fof_groups({0, 0, 0, 4, 4, 5}, points));     // not the smallest member
  CHECK_FALSE(are_fof_groups({0, 0, 0, 2, 2, 5}, points));     // a member of another group
  CHECK_FALSE(are_fof_groups({7, 7, 7, 3, 3, 5}, points));     // no particle
  CHECK_FALSE(are_fof_groups({-1, -1, -1, 3, 3, 5}, points));  // none
  CHECK_FALSE(are_fof_groups({0, 0, 0, 3, 3}, points));        // one short
  CHECK_FALSE(are_fof_groups({0, 0, 0, 3, 3, 5, 6}, points));  // one too many
}

TEST_CASE("verifier: a merge through a pair that is not adjacent in any order is refused") {
  CHECK(are_fof_groups({0, 1, 0, 1}, line({0, 10, 1, 11})));
  CHECK_FALSE(are_fof_groups({0, 0, 0, 0}, line({0, 10, 1, 11})));
  CHECK_FALSE(are_fof_groups({0, 1, 1, 0}, line({0, 10, 1, 11})));
}

TEST_CASE(
    "brute force and verifier, which share only the test for friends, agree on random point sets") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const PointSet<float> points = random_points<float>(random);
    Label label = brute_force_groups(points);
    REQUIRE(are_fof_groups(label, points));
    if (label.empty()) continue;
    // One particle moved to the group of another is always wrong.
    const auto moved = static_cast<std::size_t>(random.below(points.num()));
    const Index other = label[static_cast<std::size_t>(random.below(points.num()))];
    if (label[moved] == other) continue;
    label[moved] = other;
    REQUIRE_FALSE(are_fof_groups(label, points));
  }
}
