// What cannot be searched, in words; and next to nothing to search.
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "tests/unit/knn/knn_check.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/knn/reduce.hpp"

namespace zhalo::testing {
namespace {

struct CountNeighbours {
  ZHALO_HD Index operator()(const Neighbours<float>& near) const { return near.size(); }
};
struct SumColumn {
  ZHALO_HD double operator()(const Neighbours<float>& near,
                             const NeighbourColumn<double>& column) const {
    double sum = 0;
    for (Index i = 0; i < near.size(); ++i) sum += column[i];
    return sum;
  }
};

}  // namespace

TEST_CASE("options out of range", "[knn]") {
  const Context context = context_of(1);
  const PointSet<float> points = points_in<float>(cube(0, 1, true), Shape::uniform, 50, 1);
  const auto search = [&](const KnnOptions& options) {
    knn(context, particles_of(points), points.box, options);
  };
  const auto reduce = [&](const KnnOptions& options) {
    knn_reduce(context, particles_of(points), points.box, options, CountNeighbours{});
  };
  for (const int k : {0, -1, 4097, 5000}) {
    const auto says = Catch::Contains(fmt::format("k is {} (must be 1 to 4096)", k));
    CHECK_THROWS_WITH(search({.k = k}), says);
    CHECK_THROWS_WITH(reduce({.k = k}), says);
    CHECK_THROWS_AS(search({.k = k}), InputError);
    CHECK_THROWS_WITH(reduce({.k = k, .max_radius = 0.5}), says);  // not all within the radius
  }
  for (const double radius : {-1.0, -1e-30, -HUGE_VAL})
    CHECK_THROWS_WITH(search({.max_radius = radius}), Catch::Contains("the radius is -") &&
                                                          Catch::Contains("must not be negative"));
  CHECK_THROWS_WITH(search({.max_radius = NAN}), Catch::Contains("the radius is nan"));
  for (const int leaf_size : {0, -3, 65}) {
    CHECK_THROWS_WITH(search({.leaf_size = leaf_size}),
                      Catch::Contains(fmt::format("leaf size is {} (must be 1 to 64)", leaf_size)));
  }
  CHECK_THROWS_WITH(search({.chunk_bytes = -8}), Catch::Contains("chunk_bytes is -8"));
  CHECK_NOTHROW(search({.k = 4096, .max_radius = 0, .leaf_size = 64, .chunk_bytes = 1}));
}

TEST_CASE("positions and boxes that cannot be used", "[knn]") {
  const Context context = context_of(1);
  const PointSet<float> points = points_in<float>(cube(0, 1, false), Shape::uniform, 50, 2);
  PointSet<float> spoilt = points;
  spoilt.pos[3 * 20 + 2] = NAN;
  spoilt.pos[90] = INFINITY;
  const auto search = [&](const PointSet<float>& particles, const PointSet<float>& queries) {
    knn(context, Queries{particles_of(queries), particles_of(particles)}, points.box, {.k = 3});
  };
  CHECK_THROWS_WITH(search(spoilt, points),
                    Catch::StartsWith("2 of 50 particles have a position that is not finite") &&
                        Catch::Contains("the first is particle 20"));
  CHECK_THROWS_WITH(search(points, spoilt),
                    Catch::StartsWith("2 of 50 queries have a position that is not finite") &&
                        Catch::Contains("the first is query 20"));
  spoilt = points;
  spoilt.pos[3 * 20 + 2] = 1.25F;
  CHECK_THROWS_WITH(search(spoilt, points),
                    Catch::Contains("1 of 50 particles lie outside the box"));
  CHECK_NOTHROW(search(points, spoilt));
  PointSet<float> flat{{0.5F, 0.5F}, cube(0, 1, false, 2), 0};
  CHECK_THROWS_WITH(search(points, flat),
                    "the queries have 2 dimensions, the box and the particles have 3");
  Box box = points.box;
  box.length[1] = NAN;
  CHECK_THROWS_WITH(knn(context, particles_of(points), box, {.k = 3}),
                    Catch::Contains("on axis 1"));
}

TEST_CASE("columns that do not fit", "[knn]") {
  const Context context = context_of(1);
  const PointSet<float> points = points_in<float>(cube(0, 1, true), Shape::uniform, 50, 3);
  const std::vector<double> values(50);
  const auto reduce = [&](Index num) {
    knn_reduce(context, particles_of(points), points.box, {.k = 3},
               reduction(SumColumn{}, ParticleColumn("heat", values.data(), num)));
  };
  CHECK_NOTHROW(reduce(50));
  for (const Index num : {0, 49})
    CHECK_THROWS_WITH(reduce(num), Catch::StartsWith(fmt::format(
                                       "heat has {} elements on this rank, which has 50", num)));
  KnnOutput output{.columns = {{values.data(), 50, 0}}};
  CHECK_THROWS_WITH(knn(context, particles_of(points), points.box, {.k = 3}, output),
                    Catch::Contains("elements of 0 bytes"));
  output.columns = {{values.data(), 50, 8}};
  const auto found = knn(context, particles_of(points), points.box, {.k = 3}, output);
  CHECK(found.column<double>(0).size() == 150);
  for (const int other : {-1, 1})
    CHECK_THROWS_WITH(found.column<double>(other), Catch::Contains("no column"));
  CHECK_THROWS_AS(found.column<float>(0), InputError);
}

TEST_CASE("values and results without memory", "[knn]") {
  const Context context = context_of(1);
  const PointSet<float> points = points_in<float>(cube(0, 1, true), Shape::uniform, 50, 3);
  const Particles<float> particles = particles_of(points);
  NeighbourLists<float> lists(context, particles, points.box, {KnnOptions{.k = 3}, {}});
  REQUIRE(lists.next());
  std::vector<Index> values(50), result(50);
  const auto contains = Catch::Contains("50 elements are given, and their address is null");
  CHECK_THROWS_WITH(lists.put(nullptr, sizeof(Index), result.data()), contains);
  CHECK_THROWS_WITH(lists.put(values.data(), sizeof(Index), nullptr), contains);
  CHECK_NOTHROW(lists.put(values.data(), sizeof(Index), result.data()));
}

TEST_CASE("numbers of particles that no memory has", "[knn]") {
  const Context context = context_of(1);
  const PointSet<float> points = points_in<float>(cube(0, 1, true), Shape::uniform, 50, 3);
  Particles<float> particles = particles_of(points);
  const auto reduce = [&](const std::vector<Index>& numbers) {
    particles.segments.resize(numbers.size(), particles.segments.front());
    for (std::size_t s = 0; s < numbers.size(); ++s) particles.segments[s].num = numbers[s];
    knn_reduce(context, particles, points.box, {.k = 3}, CountNeighbours{});
  };
  CHECK_NOTHROW(reduce({50}));
  CHECK_THROWS_WITH(reduce({-1}), "segment 0 has -1 particles (must not be negative)");
  CHECK_THROWS_WITH(reduce({50, -1}), Catch::StartsWith("segment 1 has -1 particles"));
  constexpr Index largest = std::numeric_limits<Index>::max();
  // Their sum is 16 where it overflows.
  for (const auto& numbers : {std::vector<Index>{largest - 1, largest - 1, 20}, {50, largest}})
    CHECK_THROWS_WITH(reduce(numbers), Catch::Contains("the most that one rank can hold"));
}

TEST_CASE("next to no particles, and no queries", "[knn]") {
  for (const Box& box : {cube(0, 1, true), cube(-1, 2, false), Box::unbounded(2)}) {
    for (const Index num : {0, 1, 2, 3}) {
      const PointSet<double> points = points_in<double>(box, Shape::uniform, num, 4);
      for (const int k : {1, 2, 4096}) {
        check_point_set(points, {.k = k});
        check_point_set(points, {.k = k, .include_self = false});
        check_queries(points, points_in<double>(box, Shape::uniform, 7, 5), {.k = k});
        check_queries(points, PointSet<double>{{}, box, 0}, {.k = k});
      }
    }
  }
}

TEST_CASE("outputs that are not asked for are empty, rows are filled up", "[knn]") {
  const Context context = context_of(1);
  const PointSet<float> points{{0.25F, 0, 0, 0.75F, 0, 0}, cube(0, 1, true), 0};
  const std::vector<std::int16_t> values{11, 12};
  const KnnOutput output{.distances = false, .locations = true, .columns = {column_view(values)}};
  const auto found = knn(context, particles_of(points), points.box, {.k = 3}, output);
  CHECK(found.num_rows == 2);
  CHECK(found.distance.empty());
  CHECK(found.query.empty());
  CHECK(to_host(context.exec, found.index) == std::vector<Index>{0, 1, -1, 1, 0, -1});
  CHECK(to_host(context.exec, found.column<std::int16_t>(0)) ==
        std::vector<std::int16_t>{11, 12, 0, 12, 11, 0});
  std::vector<Index> locations;
  for (const ParticleLocation& p : to_host(context.exec, found.location))
    locations.push_back(p.rank < 0 ? -1 : Index{p.index});
  CHECK(locations == std::vector<Index>{0, 1, -1, 1, 0, -1});
  const auto no_indices =
      knn(context, particles_of(points), points.box, {.k = 3}, {.indices = false});
  CHECK(no_indices.index.empty());
  const float inf = INFINITY;
  CHECK(to_host(context.exec, no_indices.distance) ==
        std::vector<float>{0, 0.5F, inf, 0, 0.5F, inf});
}

}  // namespace zhalo::testing
