// Neighbours of larger point sets, of every kind that could be a difficulty, equal those of brute
// force.
#include <numeric>
#include <type_traits>

#include "tests/support/run_fof.hpp"
#include "tests/support/vector_targets.hpp"
#include "tests/unit/knn/knn_check.hpp"

namespace zhalo::testing {
namespace {

const std::vector<int> all_k = ZHALO_CHECKED ? std::vector{1, 8, 33, 1000}
                                             : std::vector{1, 2, 7, 8, 16, 32, 33, 64, 133, 1000};

/// Half of the particles in a millionth of the volume, more and more of them towards its centre.
template <class Real>
PointSet<Real> clustered(const Box& box, Index num) {
  PointSet<Real> points = points_in<Real>(box, Shape::uniform, num, 21);
  Random random(22);
  for (std::size_t i = 0; i < points.pos.size() / 2; ++i) {
    const double off = 0.01 * std::pow(random.uniform(), 4);
    const std::size_t axis = i % static_cast<std::size_t>(box.dimensions);
    points.pos[i] = static_cast<Real>(box.lo[static_cast<int>(axis)] +
                                      box.length[static_cast<int>(axis)] * (0.3 + off));
  }
  return points;
}

/// side^3 particles in random order, with spacing 1 / side.
PointSet<float> full_lattice(int side, bool periodic) {
  PointSet<float> points{{}, cube(0, 1, periodic), 0.1};
  std::vector<int> cells;
  for (int i = 0; i < side * side * side; ++i) cells.push_back(i);
  Random random(23);
  for (std::size_t i = cells.size(); i-- > 1;)
    std::swap(cells[i], cells[static_cast<std::size_t>(random.below(static_cast<Index>(i) + 1))]);
  for (const int cell : cells) {
    for (const int x : {cell % side, cell / side % side, cell / side / side})
      points.pos.push_back(static_cast<float>(x) / static_cast<float>(side));
  }
  return points;
}

/// num particles at each of some positions.
PointSet<float> copies(Index num_positions, Index num) {
  const PointSet<float> once =
      points_in<float>(cube(0, 1, true), Shape::uniform, num_positions, 24);
  PointSet<float> points = once;
  for (Index copy = 1; copy < num; ++copy)
    points.pos.insert(points.pos.end(), once.pos.begin(), once.pos.end());
  return points;
}

}  // namespace

TEMPLATE_TEST_CASE("each k, uniform and strongly clustered", "[knn]", float, double) {
  const bool periodic = GENERATE(true, false);
  for (const int k : all_k) {
    const Index num = k > 100 ? 1100 : 700;
    const PointSet<TestType> uniform =
        points_in<TestType>(cube(0, 1, periodic), Shape::uniform, num, 25);
    check_point_set(uniform, {.k = k, .include_self = k % 2 == 0});
    if (k < 1000)
      check_point_set(clustered<TestType>(cube(0, 1, periodic), num),
                      {.k = k, .include_self = k % 2 == 1});
  }
}

TEMPLATE_TEST_CASE("two positions whose squared distance is the smallest number", "[knn]", float,
                   double) {
  // The search multiplies lengths by a power of two that brings the farthest particle to about
  // 2^61 (float) or 2^509 (double): the square of the distance is then rounded up to one bit.
  constexpr bool is_float = std::is_same_v<TestType, float>;
  const TestType apart = static_cast<TestType>(is_float ? 1.6624e-38 : 3.477e-310);
  PointSet<TestType> points;
  points.box = Box::unbounded();
  const auto add = [&](TestType x, TestType y) { points.pos.insert(points.pos.end(), {x, y, y}); };
  for (int i = 0; i < 100; ++i) add(0, 0);
  for (int i = 0; i < 400; ++i) add(apart, 0);
  add(1000, 1000);
  const auto found = knn_table(context_of(2), points, {.k = 150});
  for (const std::size_t query : {std::size_t{0}, std::size_t{99}}) {
    std::vector<Index> indices;
    for (const auto& neighbour : found[query]) indices.push_back(neighbour.index);
    std::vector<Index> expected(150);
    std::iota(expected.begin(), expected.end(), Index{0});
    CHECK(indices == expected);
    CHECK(found[query][99].distance == 0);
    CHECK(found[query][149].distance < 2 * apart);
  }
  for (const auto& neighbour : found[100]) CHECK(neighbour.distance == 0);
}

TEMPLATE_TEST_CASE("thousands of neighbours", "[knn]", float, double) {
  const bool periodic = GENERATE(true, false);
  const PointSet<TestType> dense = clustered<TestType>(cube(0, 1, periodic), 6000);
  const PointSet<TestType> uniform =
      points_in<TestType>(cube(0, 1, periodic), Shape::uniform, 6000, 26);
  Random random(33);
  const PointSet<TestType> queries = random_queries(dense, random, 40);
  for (const int k : {1000, 4096}) {
    check_queries(dense, queries, {.k = k});
    check_queries(uniform, queries, {.k = k});
  }
  check_point_set(points_in<TestType>(cube(0, 1, periodic), Shape::blobs, 300, 27),
                  {.k = 4096, .include_self = false});
}

TEST_CASE("neighbours do not depend on the processor's vector instructions", "[knn]") {
  const PointSet<float> points = clustered<float>(cube(0, 1, true), 700);
  const PointSet<float> lattice = full_lattice(8, true);
  Random random(34);
  PointSet<float> shaken = lattice;  // many distances differ by their last bits only
  for (float& x : shaken.pos) x += static_cast<float>(random.below(5)) * 0x1p-22F;
  const PointSet<float> queries = random_queries(points, random, 40);
  for_each_vector_target([&] {
    for (const int k : {8, 16, 32, 48, 64, 65, 200}) {
      check_point_set(points, {.k = k});
      check_point_set(lattice, {.k = k, .include_self = false});
      check_point_set(shaken, {.k = k});
      check_queries(points, queries, {.k = k});
    }
  });
}

TEST_CASE("lattices full of ties, and hundreds of equal particles", "[knn]") {
  const PointSet<float> periodic = full_lattice(8, true);
  const PointSet<float> open = full_lattice(7, false);
  const PointSet<float> few = copies(5, 120);
  PointSet<float> equal{{}, cube(0, 1, true), 0.1};
  equal.pos.assign(1800, 0.75F);
  for (const int k : all_k) {
    check_point_set(periodic, {.k = k});
    check_point_set(open, {.k = k, .include_self = false});
    check_point_set(few, {.k = k, .include_self = k % 2 == 0});
    check_point_set(equal, {.k = k, .include_self = k % 2 == 1});
  }
  check_point_set(equal, {.k = 4096});
  check_point_set(periodic, {.k = 27, .max_radius = 0.125});
}

TEMPLATE_TEST_CASE("domains and boxes of every size, particles on their faces", "[knn]", float,
                   double) {
  struct Domain {
    double lo;
    double length;
  };
  for (const Domain d :
       {Domain{-1, 1}, {0, 1e6}, {0.25, 0.25}, {0, 0.03}, {0, 1}, {0, 170}, {-85, 170}}) {
    for (const bool periodic : {true, false}) {
      INFO("[" << d.lo << ", " << d.lo + d.length << "], periodic " << periodic);
      const Box box = cube(d.lo, d.length, periodic);
      check_point_set(points_in<TestType>(box, Shape::uniform, 400, 27), {.k = 16});
      check_point_set(points_in<TestType>(box, Shape::edges, 400, 28),
                      {.k = 33, .include_self = false});
      check_point_set(points_in<TestType>(cube(d.lo, d.length, periodic, 2), Shape::edges, 300, 29),
                      {.k = 8});
      check_point_set(clustered<TestType>(box, 400), {.k = 7, .max_radius = d.length / 50});
    }
  }
}

TEMPLATE_TEST_CASE("queries of their own: random, coincident, far away", "[knn]", float, double) {
  for (const bool periodic : {true, false}) {
    const Box box = periodic ? cube(0, 1, true) : Box::unbounded();
    PointSet<TestType> points = clustered<TestType>(cube(0, 1, periodic), 1200);
    points.box = box;
    Random random(30);
    const PointSet<TestType> queries = random_queries(points, random, 60);
    for (const int k : all_k) check_queries(points, queries, {.k = k});
    check_queries(points, points, {.k = 9});
    // Self is never left out of queries of their own, even where they are the particles.
    check_queries(points, points, {.k = 9, .include_self = true});
    PointSet<TestType> far{{}, box, 1};
    for (Index i = 0; i < 60; ++i)
      far.pos.push_back(static_cast<TestType>(periodic ? 1.75 : 1000 * (random.uniform() - 0.5)));
    check_queries(points, far, {.k = 40});
    check_queries(points, far, {.k = 3, .max_radius = 0.3});
  }
}

TEST_CASE("include_self leaves out no particle where queries are of their own", "[knn]") {
  const PointSet<float> points = points_in<float>(cube(0, 1, true), Shape::uniform, 200, 31);
  const Context context = context_of(1);
  KnnOptions options{.k = 4, .include_self = false};
  const auto found = knn_table(context, points, points, options);
  options.include_self = true;
  CHECK(difference(found, knn_table(context, points, options)) == "");
}

TEMPLATE_TEST_CASE("leaf sizes, threads, chunks and layouts change nothing", "[knn]", float,
                   double) {
  const PointSet<TestType> points = clustered<TestType>(cube(0, 1, true), 1500);
  Random random(32);
  const PointSet<TestType> queries = random_queries(points, random, 300);
  KnnOptions options{.k = 20};
  const auto expected = knn_table(context_of(1), points, options);
  const auto of_queries = knn_table(context_of(1), points, queries, options);
  for (const int threads : {1, 3}) {
    for (const int leaf_size : {1, 2, 7, 32, 64}) {
      options.leaf_size = leaf_size;
      options.chunk_bytes = leaf_size % 2 == 0 ? 0 : 30000;
      INFO("threads " << threads << ", leaf size " << leaf_size);
      CHECK(difference(knn_table(context_of(threads), points, options), expected) == "");
      CHECK(difference(knn_table(context_of(threads), points, queries, options), of_queries) == "");
    }
  }
  for (const Layout layout : {Layout::columns, Layout::structs, Layout::segments, Layout::mixed}) {
    const LaidOut<TestType> laid_out(points, layout);
    const Context context = context_of(2);
    CHECK(difference(
              table_of(context.exec, knn(context, laid_out.particles(), points.box, {.k = 20})),
              expected) == "");
  }
}

}  // namespace zhalo::testing
