// Searches within a radius: counts, reductions and pairs equal those of brute force.
#include <catch2/catch.hpp>

#include <atomic>

#include "tests/unit/knn/knn_check.hpp"
#include "zhalo/core/reductions.hpp"
#include "zhalo/knn/within.hpp"

namespace zhalo::testing {
namespace {

/// What a reduction can see of a row, in one number that depends on the order.
struct Digest {
  ZHALO_HD double operator()(const Neighbours<float>& near,
                             const NeighbourColumn<int>& column) const {
    double digest = 0;
    for (Index i = 0; i < near.size(); ++i)
      digest = digest * 0.75 + static_cast<double>(near.index(i)) + near.distance(i) + column[i];
    return digest;
  }
};

/// Counts pairs nearer than half the radius.
struct CountClose {
  double half;
  std::atomic<Index>* counter;

  void operator()(const Neighbours<float>& near, Index i) const {
    if (near.distance(i) < half) counter->fetch_add(1);
  }
};

/// A point set, and brute force's neighbours within its linking length.
struct Case {
  PointSet<float> points;
  Wanted wanted;
  NeighbourTable<float> table;

  explicit Case(std::uint64_t seed) {
    Random random(seed);
    points = random_points<float>(random);
    wanted = {.k = 0, .include_self = random.one_in(2), .max_radius = points.linking_length};
    table = brute_table(points, wanted);
  }

  WithinOptions options() const {
    return {.radius = points.linking_length,
            .include_self = wanted.include_self,
            .leaf_size = 16,
            .chunk_bytes = 700};
  }
};

}  // namespace

TEST_CASE("neighbours within a radius are those of brute force", "[knn]") {
  const Context context = context_of(2);
  for (std::uint64_t seed = 1000; seed < (ZHALO_CHECKED ? 1040 : 1150); ++seed) {
    const Case test(seed);
    INFO("seed " << seed);
    std::vector<int> column;
    for (Index i = 0; i < test.points.num(); ++i) column.push_back(static_cast<int>(i * 7 % 11));
    std::vector<Index> counts;
    std::vector<double> digests;
    Index close = 0;
    for (const auto& row : test.table) {
      counts.push_back(static_cast<Index>(row.size()));
      digests.push_back(0);
      for (const auto& n : row) {
        digests.back() = digests.back() * 0.75 + static_cast<double>(n.index) +
                         static_cast<double>(n.distance) +
                         column[static_cast<std::size_t>(n.index)];
        close += static_cast<double>(n.distance) < test.points.linking_length / 2 ? 1 : 0;
      }
    }
    const auto particles = particles_of(test.points);
    REQUIRE(to_host(context.exec,
                    count_within(context, particles, test.points.box, test.options())) == counts);
    const ParticleColumn travelling("column", Span<const int>(column));
    REQUIRE(to_host(context.exec, reduce_within(context, particles, test.points.box, test.options(),
                                                reduction(Digest{}, travelling))) == digests);
    std::atomic<Index> counter{0};
    for_each_neighbour_within(context, particles, test.points.box, test.options(),
                              CountClose{test.points.linking_length / 2, &counter});
    REQUIRE(counter == close);
  }
}

namespace {

template <class Real>
void check_counts(const PointSet<Real>& points, const Wanted& wanted) {
  const Context context = context_of(1);
  std::vector<Index> counts;
  for (const auto& row : brute_table(points, wanted)) counts.push_back(std::ssize(row));
  const WithinOptions options{
      .radius = wanted.max_radius, .include_self = wanted.include_self, .leaf_size = 4};
  INFO("radius " << wanted.max_radius);
  CHECK(to_host(context.exec, count_within(context, particles_of(points), points.box, options)) ==
        counts);
}

}  // namespace

// Of many neighbours most are in nodes that lie within the radius as a whole.
TEMPLATE_TEST_CASE("many neighbours within a radius are counted", "[knn]", float, double) {
  for (const Shape shape : {Shape::uniform, Shape::blobs, Shape::few_positions}) {
    for (const Box& box : {Box::periodic_cube(1), Box::unbounded()}) {
      PointSet<TestType> points{{}, box, 0.3};
      Random random(17);
      fill(points, random, shape, 500);
      for (const double radius : {0.1, 0.3, 0.49}) {
        check_counts(points, {.k = 0, .include_self = true, .max_radius = radius});
        check_counts(points, {.k = 0, .include_self = false, .max_radius = radius});
      }
    }
  }
}

TEST_CASE("neighbours within a radius of queries of their own", "[knn]") {
  const Context context = context_of(2);
  Random random(3);
  PointSet<float> points{{}, Box::periodic_cube(1), 0.2};
  PointSet<float> queries = points;
  fill(points, random, Shape::uniform, 300);
  fill(queries, random, Shape::uniform, 70);
  const BruteNeighbours<float> brute(points);
  std::vector<Index> counts;
  for (Index i = 0; i < queries.num(); ++i)
    counts.push_back(static_cast<Index>(brute.of(queries, i, {.k = 0, .max_radius = 0.2}).size()));
  CHECK(to_host(context.exec,
                count_within(context, Queries{particles_of(queries), particles_of(points)},
                             points.box, {.radius = 0.2})) == counts);
}

TEST_CASE("a radius that was reported as a distance includes the neighbour at that distance",
          "[knn]") {
  const Context context = context_of(2);
  Random random(11);
  PointSet<float> points{{}, Box::periodic_cube(1), 0.2};
  fill(points, random, Shape::uniform, 60);
  const auto particles = particles_of(points);
  const auto table = brute_table(points, {.k = 5});
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto counts =
        to_host(context.exec, count_within(context, particles, points.box,
                                           {.radius = static_cast<double>(table[i][4].distance)}));
    CHECK(counts[i] >= 5);
  }
}

TEST_CASE("the vector to a neighbour goes across a periodic edge the short way", "[knn]") {
  const Context context = context_of(2);
  struct ToOther {
    ZHALO_HD Vec3d operator()(const Neighbours<float>& near) const { return near.separation(0); }
  };
  const auto check = [&](const PointSet<float>& points, const Vec3d& expected) {
    const auto found =
        to_host(context.exec, reduce_within(context, particles_of(points), points.box,
                                            {.radius = 0.5, .include_self = false}, ToOther{}));
    REQUIRE(found.size() == 2);
    for (int axis = 0; axis < 3; ++axis) {
      CHECK(found[0][axis] == Approx(expected[axis]).margin(1e-6));
      CHECK(found[1][axis] == Approx(-expected[axis]).margin(1e-6));
    }
  };
  check({{0.05F, 0.1F, 0.2F, 0.95F, 0.3F, 0.1F}, Box::periodic_cube(1), 0.1}, {{-0.1, 0.2, -0.1}});
  Box box = Box::periodic_cube(1);
  box.lo = {{-3, 10, 0.5}};
  box.length = {{1, 2, 4}};
  box.periodic[2] = false;
  check({{-2.9F, 11.9F, 1, -2.2F, 10.1F, 1.2F}, box, 0.1}, {{-0.3, 0.2, 0.2}});
}

TEST_CASE("a query without neighbours has no radius", "[knn]") {
  const Context context = context_of(2);
  const PointSet<float> points{{0.1F, 0.1F, 0.1F, 0.6F, 0.6F, 0.6F}, Box::periodic_cube(1), 0.1};
  const auto radii =
      to_host(context.exec, reduce_within(context, particles_of(points), points.box,
                                          {.radius = 0.1, .include_self = false}, KthRadius{}));
  CHECK(radii == std::vector<double>(2, INFINITY));
}

TEST_CASE("a radius that cannot be searched, and a column of the wrong size", "[knn]") {
  const Context context = context_of(2);
  const Case test(1000);
  const auto particles = particles_of(test.points);
  for (const double radius :
       {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    CHECK_THROWS_WITH(count_within(context, particles, test.points.box, {.radius = radius}),
                      Catch::Contains("the radius is"));
  const std::vector<int> column(3);
  CHECK_THROWS_WITH(
      reduce_within(context, particles, test.points.box, test.options(),
                    reduction(Digest{}, ParticleColumn("column", Span<const int>(column)))),
      Catch::Contains("column has 3 elements on this rank"));
}

}  // namespace zhalo::testing
