/// Friends-of-friends where the definition is easily got wrong: ties, duplicates, edges, few
/// particles.
#include <catch2/catch.hpp>

#include "src/domain/domain_state.hpp"
#include "src/tree/tree.hpp"
#include "tests/support/point_sets.hpp"
#include "tests/support/run_fof.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;
using Label = std::vector<Index>;

/// The groups by brute force, for every leaf size, some numbers of threads and every layout of
/// memory.
template <class Real>
void check_all_runs(const PointSet<Real>& points) {
  const Label expected = brute_force_groups(points);
  for (const int leaf_size : {1, 2, 7, 16, 32, 48, 64}) {
    const Layout layout = static_cast<Layout>(leaf_size % num_layouts);
    for (const int threads : {1, 3}) {
      CAPTURE(leaf_size, threads, points.linking_length);
      REQUIRE(fof_labels(points, {leaf_size, threads, layout}) == expected);
    }
  }
}

template <class Real>
PointSet<Real> points_of(const Box& box, double linking_length, const std::vector<double>& pos) {
  PointSet<Real> points{{}, box, linking_length};
  for (const double x : pos) points.pos.push_back(static_cast<Real>(x));
  return points;
}

template <class Real>
std::size_t num_groups(const PointSet<Real>& points) {
  Label label = fof_labels(points);
  std::sort(label.begin(), label.end());
  return static_cast<std::size_t>(std::unique(label.begin(), label.end()) - label.begin());
}

/// n^d particles, `spacing` apart.
template <class Real>
PointSet<Real> lattice(const Box& box, Index n, double spacing, double linking_length) {
  PointSet<Real> points{{}, box, linking_length};
  const Index num = box.dimensions == 3 ? n * n * n : n * n;
  for (Index i = 0; i < num; ++i) {
    const Index cell[] = {i % n, i / n % n, i / (n * n)};
    for (int axis = 0; axis < box.dimensions; ++axis) {
      points.pos.push_back(
          static_cast<Real>(box.lo[axis] + static_cast<double>(cell[axis]) * spacing));
    }
  }
  return points;
}

}  // namespace

TEMPLATE_TEST_CASE("no, one and two particles", "", float, double) {
  const Box box = GENERATE(Box::unbounded(3), Box::unbounded(2), Box::periodic_cube(1, 3),
                           Box::periodic_cube(1, 2));
  const auto points = [&](std::vector<double> pos) {
    const auto num = pos.size() / 3;
    if (box.dimensions == 2) {
      for (std::size_t i = num; i-- > 0;)
        pos.erase(pos.begin() + static_cast<std::ptrdiff_t>(3 * i + 2));
    }
    return points_of<TestType>(box, 0.25, pos);
  };
  CHECK(fof_labels(points({})) == Label{});
  CHECK(fof_labels(points({0.5, 0.5, 0.5})) == Label{0});
  CHECK(fof_labels(points({0.5, 0.5, 0.5, 0.5, 0.5, 0.5})) == Label{0, 0});
  CHECK(fof_labels(points({0.5, 0.5, 0.5, 0.75, 0.5, 0.5})) == Label{0, 0});
  CHECK(fof_labels(points({0.5, 0.5, 0.5, 0.751, 0.5, 0.5})) == Label{0, 1});
  check_all_runs(points({}));
  check_all_runs(points({0, 0, 0}));
  check_all_runs(points({0, 0, 0, 0.25, 0, 0}));
}

TEMPLATE_TEST_CASE("a pair at b is linked, a pair one rounding step beyond is not", "", float,
                   double) {
  const double b = GENERATE(0.25, 0.1, 1.0 / 3, 3e-5, 7e22);
  const TestType at = static_cast<TestType>(b);
  const TestType beyond = std::nextafter(at, std::numeric_limits<TestType>::infinity());
  const Box box = Box::unbounded(3);
  const double exactly = static_cast<double>(at);
  CHECK(num_groups(PointSet<TestType>{{0, 0, 0, 0, at, 0}, box, exactly}) == 1);
  CHECK(num_groups(PointSet<TestType>{{0, 0, 0, 0, 0, beyond}, box, exactly}) == 2);
  CHECK(num_groups(PointSet<TestType>{{0, 0, 0, at, 0, 0}, box, std::nextafter(exactly, 0)}) == 2);
}

TEMPLATE_TEST_CASE("a lattice at exactly the linking length", "", float, double) {
  const double spacing = GENERATE(0.125, 0.1, 0.3, 12.8);
  const int dimensions = GENERATE(2, 3);
  const bool periodic = GENERATE(false, true);
  const Index n = 8;
  Box box = Box::periodic_cube(static_cast<double>(n) * spacing, dimensions);
  if (!periodic) box = Box::unbounded(dimensions);
  check_all_runs(lattice<TestType>(box, n, spacing, spacing));
  check_all_runs(lattice<TestType>(box, n, spacing, spacing * std::sqrt(2.0)));
  check_all_runs(lattice<TestType>(box, n, spacing, std::nextafter(spacing, 0)));
}

TEST_CASE(
    "a lattice whose spacing is a power of two is one group at b, and single particles below") {
  const Box box = Box::periodic_cube(2);
  CHECK(num_groups(lattice<float>(box, 16, 0.125, 0.125)) == 1);
  CHECK(num_groups(lattice<double>(box, 16, 0.125, 0.125)) == 1);
  CHECK(num_groups(lattice<float>(box, 16, 0.125, std::nextafter(0.125, 0))) == 4096);
  CHECK(num_groups(lattice<double>(box, 16, 0.125, std::nextafter(0.125, 0))) == 4096);
}

TEMPLATE_TEST_CASE("all points equal are one group", "", float, double) {
  const Box box = GENERATE(Box::unbounded(3), Box::periodic_cube(1));
  const double at = GENERATE(0.0, 0.1, 0.999);
  const double b = GENERATE(0.3, 1e-12, 1e-300);
  const PointSet<TestType> points = points_of<TestType>(box, b, std::vector<double>(3 * 1000, at));
  const int leaf_size = GENERATE(1, 32);
  CHECK(fof_labels(points, {leaf_size, 2}) == Label(1000, 0));
}

TEST_CASE("particles at one position are one leaf of a domain, in any box") {
  const Box box = GENERATE(Box::unbounded(3), Box::periodic_cube(1));
  const PointSet<float> points = points_of<float>(box, 0.1, std::vector<double>(3 * 10000, 0.3));
  const LaidOut<float> laid_out(points, Layout::rows);
  const Context context;
  const Domain<float> domain(context, laid_out.particles(), box);
  const FofResult found = friends_of_friends(domain, {.linking_length = 0.1});
  CHECK(to_host(context.exec, found.label) == Label(10000, 0));
  const auto& trees = domain.state()->species[0].trees;
  REQUIRE(trees.size() == 1);
  const auto tree = std::static_pointer_cast<const Tree<float>>(trees.begin()->second);
  CHECK(tree->view().leaf_end[0] == LocalIndex{10000});
}

TEMPLATE_TEST_CASE("points on every face, edge and corner of a periodic box, and at x == L", "",
                   float, double) {
  const double length = GENERATE(1.0, 0.03, 170.3);
  const double lo = GENERATE(0.0, -37.5, 0.1);
  for (const int dimensions : {2, 3}) {
    Box box = Box::periodic_cube(length, dimensions);
    for (int axis = 0; axis < dimensions; ++axis) box.lo[axis] = lo;
    std::vector<double> pos;
    const int num = dimensions == 3 ? 27 : 9;
    for (int i = 0; i < num; ++i) {
      const int step[] = {i % 3, i / 3 % 3, i / 9};
      for (int axis = 0; axis < dimensions; ++axis) pos.push_back(lo + 0.5 * length * step[axis]);
    }
    for (const double b : {0.01, 0.3, 0.499, 0.5}) {
      const PointSet<TestType> points = points_of<TestType>(box, b * length, pos);
      check_all_runs(points);
      CHECK(run_fof(points).num_wrapped == count_wrapped(points));
    }
  }
}

TEST_CASE("x == L and x beyond L are wrapped, linked and counted once per particle") {
  const PointSet<float> points = points_of<float>(Box::periodic_cube(1), 0.02,
                                                  {0, 0, 0,          // inside
                                                   1, 0.01, 1,       // on two upper edges
                                                   1.01, 0, 0,       // beyond
                                                   -0.01, 2, -3,     // beyond on all axes
                                                   0.5, 0.5, 0.5});  // inside, alone
  const Labels found = run_fof(points);
  CHECK(found.label == Label{0, 0, 0, 0, 4});
  CHECK(found.num_wrapped == 3);
  CHECK(found.num_total == 5);
}

TEST_CASE("particles a thousand periods away are wrapped, particles too far away are refused") {
  PointSet<double> points =
      points_of<double>(Box::periodic_cube(1), 0.02,
                        {1000.25, -999.75, 0.25, 0.25, 0.25, 0.25, 9000, -9000, 1e4, 0, 0, 0});
  CHECK(run_fof(points).label == Label{0, 0, 2, 2});
  CHECK(run_fof(points).num_wrapped == 2);
  points.pos[6] = 1e300;
  CHECK_THROWS_WITH(run_fof(points), Catch::Contains("1 of 4 particles") &&
                                         Catch::Contains("outside the periodic box") &&
                                         Catch::Contains("particle 2"));
}

TEMPLATE_TEST_CASE("linking lengths from a quarter to half of the box", "", float, double) {
  Random random(7);
  const double part = GENERATE(0.26, 0.3, 0.45, 0.4999999, 0.5);
  for (const int dimensions : {2, 3}) {
    PointSet<TestType> points{{}, Box::periodic_cube(1, dimensions), part};
    fill(points, random, Shape::uniform, GENERATE(2, 3, 5, 9));
    check_all_runs(points);
  }
}

TEST_CASE("exactly half a box apart is linked at b of half the box") {
  CHECK(num_groups(points_of<float>(Box::periodic_cube(1), 0.5, {0.25, 0, 0, 0.75, 0, 0})) == 1);
  CHECK(num_groups(points_of<float>(Box::periodic_cube(1), 0.4999, {0.25, 0, 0, 0.75, 0, 0})) == 2);
}

TEMPLATE_TEST_CASE("two filaments are joined through the periodic corner", "", float, double) {
  const int dimensions = GENERATE(2, 3);
  const double length = GENERATE(1.0, 170.3);
  PointSet<TestType> points{
      {}, Box::periodic_cube(length, dimensions), 0.0051 * length * std::sqrt(dimensions)};
  for (int i = 0; i < 60; ++i) {
    for (int axis = 0; axis < dimensions; ++axis)
      points.pos.push_back(static_cast<TestType>(length * (0.0025 + 0.005 * i)));
    for (int axis = 0; axis < dimensions; ++axis)
      points.pos.push_back(static_cast<TestType>(length * (0.9975 - 0.005 * i)));
  }
  check_all_runs(points);
  CHECK(num_groups(points) == 1);
  points.box.periodic[0] = false;
  check_all_runs(points);
  CHECK(num_groups(points) == 2);
}

TEMPLATE_TEST_CASE("every mixture of periodic and other axes", "", float, double) {
  for (unsigned mixture = 0; mixture < 8; ++mixture) {
    Random random(mixture);
    Box box = Box::periodic_cube(1);
    box.length = {{1, 0.5, 2}};
    for (unsigned axis = 0; axis < 3; ++axis)
      box.periodic[static_cast<int>(axis)] = (mixture >> axis & 1U) != 0;
    PointSet<TestType> points{{}, box, 0.11};
    for (int i = 0; i < 200; ++i) {
      for (int axis = 0; axis < 3; ++axis)
        points.pos.push_back(static_cast<TestType>(random.uniform() * box.length[axis]));
    }
    check_all_runs(points);
  }
}

TEMPLATE_TEST_CASE("boxes of every size, position and shape", "", float, double) {
  const double size = GENERATE(0.03, 1.0, 170.0, 1e26, 1e-20);
  const double corner = GENERATE(0.0, -0.375, 10.0);
  const Shape shape = GENERATE(Shape::uniform, Shape::blobs, Shape::edges);
  Random random(3);
  Box box = Box::periodic_cube(size);
  box.length[1] = 0.7 * size;
  box.lo = Vec3d{{corner, -corner, 2 * corner}} * size;
  PointSet<TestType> points{{}, box, 0.06 * size};
  fill(points, random, shape, 250);
  check_all_runs(points);
}

TEST_CASE("a box far from the origin, of as many digits as a float has") {
  // Floats near 1e6 are 1/16 apart: the whole box has sixteen values an axis.
  Random random(5);
  Box box = Box::periodic_cube(0.99);
  box.lo = {{1e6 + 0.03, -1e6 - 0.03, 3e5}};
  for (const double b : {0.03, 0.055, 0.0626, 0.2}) {
    PointSet<float> points{{}, box, b};
    fill(points, random, Shape::uniform, 200);
    check_all_runs(points);
  }
}

TEMPLATE_TEST_CASE("thousands of duplicates among others", "", float, double) {
  Random random(11);
  PointSet<TestType> points{{}, Box::periodic_cube(1), GENERATE(0.02, 1e-4, 1e-9)};
  fill(points, random, Shape::uniform, 100);
  const std::vector<TestType> pos = points.pos;
  for (int i = 0; i < 2000; ++i) {
    const auto at = static_cast<std::ptrdiff_t>(3 * random.below(3));
    points.pos.insert(points.pos.end(), pos.begin() + at, pos.begin() + at + 3);
  }
  const Label expected = brute_force_groups(points);
  CHECK(fof_labels(points, {32, 2}) == expected);
  CHECK(fof_labels(points, {1, 1}) == expected);
}

TEMPLATE_TEST_CASE("cells as fine as keys allow hold more than a leaf, and are not groups", "",
                   float, double) {
  // Keys resolve 2^-21 of the box; the linking length is a hundredth of that, so one cell holds
  // many particles that are not friends.
  Random random(13);
  const double b = std::ldexp(0.01, -21);
  PointSet<TestType> points{{}, Box::periodic_cube(1), b};
  for (int i = 0; i < 400; ++i) {
    for (int axis = 0; axis < 3; ++axis)
      points.pos.push_back(static_cast<TestType>(20 * b * random.uniform()));
  }
  points.pos.insert(points.pos.end(), {TestType(0.9), TestType(0.9), TestType(0.9)});
  check_all_runs(points);
  const std::size_t groups = num_groups(points);
  CHECK(groups > 200);
  CHECK(groups < 401);
}

TEMPLATE_TEST_CASE("the smallest and the largest numbers there are", "", float, double) {
  using Limits = std::numeric_limits<TestType>;
  const TestType tiny = Limits::denorm_min();
  const TestType huge = Limits::max() / 4;
  const Box box = Box::unbounded(2);
  CHECK(fof_labels(PointSet<TestType>{
            {0, 0, tiny, 0, 3 * tiny, 0}, box, static_cast<double>(tiny)}) == Label{0, 0, 2});
  CHECK(fof_labels(PointSet<TestType>{{0, 0, huge, 0, -huge, 0}, box, static_cast<double>(huge)}) ==
        Label{0, 0, 0});
  CHECK(fof_labels(PointSet<TestType>{
            {0, 0, huge, 0, -huge, 0}, box, static_cast<double>(huge) / 2}) == Label{0, 1, 2});
  const auto near = static_cast<TestType>(0x1p-61);
  CHECK(fof_labels(PointSet<TestType>{{-huge, 0, -huge, 0, 0, 0, near, 0, 1, 0}, box, 0x1p-60}) ==
        Label{0, 0, 2, 2, 4});
  CHECK(fof_labels(PointSet<TestType>{{huge, 0, -huge, 0, 1, 0, 2, 0, 4, 0}, box, 1}) ==
        Label{0, 1, 2, 2, 4});
}

TEMPLATE_TEST_CASE("linking lengths down to nothing: only duplicates are friends", "", float,
                   double) {
  Random random(17);
  const double b = GENERATE(1e-10, 1e-25, 1e-37, 1e-60, 1e-150);
  const Box box = GENERATE(Box::unbounded(3), Box::periodic_cube(170.3));
  PointSet<TestType> points{{}, box, b};
  std::vector<TestType> pos;
  for (int i = 0; i < 150; ++i) pos.push_back(static_cast<TestType>(random.uniform(0.001, 170.2)));
  points.pos = pos;
  points.pos.insert(points.pos.end(), pos.begin(), pos.end());
  Label expected(100);
  for (std::size_t i = 0; i < 100; ++i) expected[i] = static_cast<Index>(i % 50);
  CHECK(fof_labels(points, {7, 1}) == expected);
  CHECK(fof_labels(points, {32, 2}) == expected);
}

TEMPLATE_TEST_CASE("linking lengths far above the extent of a domain: one group", "", float,
                   double) {
  const double b = GENERATE(0.05, 0.1, 0.2, 1.0, 1e4, 1e8);
  const PointSet<TestType> points =
      points_of<TestType>(Box::unbounded(3), b, {0, 0, 0, 0.05, 0, 0, 0.02, 0, 0});
  const LaidOut<TestType> laid_out(points, Layout::rows);
  const Context context;
  const Domain<TestType> domain(context, laid_out.particles(), points.box, {.min_length = b});
  const auto labels = [&](double linking_length) {
    const FofResult found = friends_of_friends(domain, {.linking_length = linking_length});
    return to_host(context.exec, domain.to_caller_order(found.label.span()));
  };
  CHECK(labels(b) == Label{0, 0, 0});
  CHECK(labels(0.025) == Label{0, 1, 0});
  CHECK(labels(0.01) == Label{0, 1, 2});
}

TEMPLATE_TEST_CASE("a linking length beyond the extent of a domain links its two ends", "", float,
                   double) {
  const PointSet<TestType> points =
      points_of<TestType>(Box::unbounded(3), 1, {0, 0, 0, 0.75, 0.5, 0.25});  // 0.9354 apart
  const LaidOut<TestType> laid_out(points, Layout::rows);
  const Context context;
  const Domain<TestType> domain(context, laid_out.particles(), points.box);
  const auto labels = [&](double linking_length) {
    return to_host(context.exec,
                   friends_of_friends(domain, {.linking_length = linking_length}).label);
  };
  CHECK(labels(0.93) == Label{0, 1});
  for (const double length : {0.94, 1.0, 100.0, 1e30}) CHECK(labels(length) == Label{0, 0});
  const double too_short = std::is_same_v<TestType, float> ? 1e-35 : 1e-300;
  CHECK_THROWS_WITH(
      labels(too_short),
      Catch::Contains("too small to be told from 0") &&
          Catch::Contains(std::is_same_v<TestType, float> ? "give positions in double, or leave"
                                                          : "domain; leave out particles"));
}

TEMPLATE_TEST_CASE("cells of a domain are not groups of a shorter linking length", "", float,
                   double) {
  // Cells have just the side that links all in one at the length of the domain.
  const double length = 0.1;
  const double side = length * (1 - 1e-4) / std::sqrt(3.0);
  PointSet<TestType> points{{}, Box::periodic_cube(16 * side), length};
  for (const int cell : {2, 5, 9, 13}) {
    for (int i = 0; i < 80; ++i) {
      const double at = cell + (i % 2 == 0 ? 0.02 : 0.98);  // 0.96 lengths apart
      for (int axis = 0; axis < 3; ++axis) points.pos.push_back(static_cast<TestType>(at * side));
    }
  }
  const LaidOut<TestType> laid_out(points, Layout::rows);
  const Context context;
  const Domain<TestType> domain(context, laid_out.particles(), points.box, {.min_length = length});
  const auto labels = [&](double linking_length) {
    const FofResult found = friends_of_friends(domain, {.linking_length = linking_length});
    return to_host(context.exec, domain.to_caller_order(found.label.span()));
  };
  Label cells, halves;
  for (Index i = 0; i < 320; ++i) {
    cells.push_back(i / 80 * 80);
    halves.push_back(i / 80 * 80 + i % 2);
  }
  CHECK(labels(length) == cells);
  for (const double part : {0.9, 0.7, 0.52, 0.3}) CHECK(labels(part * length) == halves);
}
