/// Many small point sets of every kind, by fixed seeds, against brute force.
#include <catch2/catch.hpp>

#include "tests/support/point_sets.hpp"
#include "tests/support/run_fof.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;

constexpr std::uint64_t num_seeds = ZHALO_CHECKED ? 300 : 8000;

Run random_run(Random& random) {
  return {random.pick({0, 1, 2, 7, 16, 32, 48, 64}), random.pick({1, 1, 1, 2, 3}),
          static_cast<Layout>(random.below(num_layouts))};
}

template <class Real>
void check_seed(std::uint64_t seed) {
  Random random(seed);
  const PointSet<Real> points = random_points<Real>(random);
  const Run run = random_run(random);
  CAPTURE(seed, sizeof(Real), points.num(), points.linking_length, run.leaf_size, run.threads,
          static_cast<int>(run.layout));
  const Labels found = run_fof(points, run);
  REQUIRE(found.label == brute_force_groups(points));
  REQUIRE(found.num_wrapped == count_wrapped(points));
  REQUIRE(found.num_total == points.num());
}

}  // namespace

TEST_CASE("random point sets of float have the groups that brute force finds") {
  for (std::uint64_t seed = 1; seed <= num_seeds; ++seed) check_seed<float>(seed);
}

TEST_CASE("random point sets of double have the groups that brute force finds") {
  for (std::uint64_t seed = 1; seed <= num_seeds; ++seed) check_seed<double>(seed + 1'000'000);
}
