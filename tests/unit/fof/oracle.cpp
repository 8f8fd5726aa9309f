/// The oracles themselves: brute force gives what can be counted by hand, and the verifier refuses every kind of wrong label.
#include <catch2/catch.hpp>

#include "tests/support/brute_force.hpp"
#include "tests/support/clouds.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;
using Label = std::vector<Index>;

/// Particles on a line, unbounded, with friends at distance 1.
Cloud<double> line(const std::vector<double>& x) {
  Cloud<double> cloud{{}, Box::unbounded(2), 1.0};
  for (const double at : x) cloud.pos.insert(cloud.pos.end(), {at, 0.0});
  return cloud;
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
  Cloud<double> cloud{{0.1, 0.1, 9.9, 9.9, 5, 5}, Box::periodic_cube(10, 2), 0.3};
  CHECK(brute_force_groups(cloud) == Label{0, 0, 2});
  cloud.linking_length = 0.28;
  CHECK(brute_force_groups(cloud) == Label{0, 1, 2});
  cloud.linking_length = 0.3;
  cloud.box.periodic[1] = false;
  CHECK(brute_force_groups(cloud) == Label{0, 1, 2});
}

TEST_CASE("brute force: particles beyond a periodic edge are moved inside, the upper edge is the lower one") {
  const Cloud<double> cloud{{0, 5, 10, 5, -0.25, 5, 20.25, 5}, Box::periodic_cube(10, 2), 0.25};
  CHECK(brute_force_groups(cloud) == Label{0, 0, 0, 0});
  CHECK(count_wrapped(cloud) == 3);
}

TEST_CASE("verifier: accepts the groups and nothing else") {
  const Cloud<double> cloud = line({0, 1, 2, 4, 5, 9});
  CHECK(are_fof_groups({0, 0, 0, 3, 3, 5}, cloud));
  CHECK_FALSE(are_fof_groups({0, 0, 2, 3, 3, 5}, cloud));     // split between friends
  CHECK_FALSE(are_fof_groups({0, 1, 2, 3, 4, 5}, cloud));     // all split
  CHECK_FALSE(are_fof_groups({0, 0, 0, 0, 0, 5}, cloud));     // merged
  CHECK_FALSE(are_fof_groups({0, 0, 0, 0, 0, 0}, cloud));     // all merged
  CHECK_FALSE(are_fof_groups({1, 1, 1, 3, 3, 5}, cloud));     // not the smallest member
  CHECK_FALSE(are_fof_groups({0, 0, 0, 4, 4, 5}, cloud));     // not the smallest member
  CHECK_FALSE(are_fof_groups({0, 0, 0, 2, 2, 5}, cloud));     // a member of another group
  CHECK_FALSE(are_fof_groups({7, 7, 7, 3, 3, 5}, cloud));     // no particle
  CHECK_FALSE(are_fof_groups({-1, -1, -1, 3, 3, 5}, cloud));  // none
  CHECK_FALSE(are_fof_groups({0, 0, 0, 3, 3}, cloud));        // one short
  CHECK_FALSE(are_fof_groups({0, 0, 0, 3, 3, 5, 6}, cloud));  // one too many
}

TEST_CASE("verifier: a merge through a pair that is not adjacent in any order is refused") {
  CHECK(are_fof_groups({0, 1, 0, 1}, line({0, 10, 1, 11})));
  CHECK_FALSE(are_fof_groups({0, 0, 0, 0}, line({0, 10, 1, 11})));
  CHECK_FALSE(are_fof_groups({0, 1, 1, 0}, line({0, 10, 1, 11})));
}

TEST_CASE("brute force and verifier, which share only the test for friends, agree on random clouds") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const Cloud<float> cloud = random_cloud<float>(random);
    Label label = brute_force_groups(cloud);
    REQUIRE(are_fof_groups(label, cloud));
    if (label.empty()) continue;
    // One particle moved to the group of another is always wrong.
    const auto moved = static_cast<std::size_t>(random.below(cloud.num()));
    const Index other = label[static_cast<std::size_t>(random.below(cloud.num()))];
    if (label[moved] == other) continue;
    label[moved] = other;
    REQUIRE_FALSE(are_fof_groups(label, cloud));
  }
}
