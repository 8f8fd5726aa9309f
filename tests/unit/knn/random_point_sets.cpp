// Neighbours of small point sets of every kind equal those of brute force, ties included.
#include <catch2/catch.hpp>

#include "tests/unit/knn/knn_check.hpp"

namespace zhalo::testing {

TEMPLATE_TEST_CASE("neighbours of random point sets are those of brute force", "[knn]", float,
                   double) {
  const Context context = context_of(2);
  for (std::uint64_t seed = 0; seed < (ZHALO_CHECKED ? 100 : 400); ++seed) {
    Random random(seed);
    const PointSet<TestType> points = random_points<TestType>(random);
    Wanted wanted;
    wanted.k = random.pick({Index{1}, Index{2}, Index{7}, Index{8}, Index{16}, Index{32}, Index{33},
                            Index{64}, Index{133}, Index{1000}});
    wanted.include_self = random.one_in(2);
    if (random.one_in(3)) wanted.max_radius = points.linking_length;
    KnnOptions options = options_of(wanted);
    options.leaf_size = random.pick({1, 5, 32, 64});
    if (random.one_in(2)) options.chunk_bytes = 1000;
    INFO("seed " << seed << ", k " << wanted.k << ", " << points.num() << " particles, dimensions "
                 << points.box.dimensions);
    REQUIRE(difference(knn_table(context, points, options), brute_table(points, wanted)) == "");
  }
}

}  // namespace zhalo::testing
