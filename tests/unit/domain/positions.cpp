/// How many particles lie outside a box, and boxes that positions of a precision cannot hold.
#include "zhalo/domain/particles.hpp"

#include <catch2/catch.hpp>

#include <cfenv>

#include "src/domain/positions.hpp"
#include "tests/support/point_sets.hpp"
#include "tests/support/run_fof.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::testing {
namespace {

template <class Real>
PointSet<Real> some_outside(const Box& box) {
  PointSet<Real> points{{}, box, 0};
  for (const double x : {0.5, 1.0, -0.25, 0.0, 3.5, 0.999}) {
    for (const double at : {x, 0.5, 0.5}) points.pos.push_back(static_cast<Real>(at));
  }
  return points;
}

template <class Real>
PositionCounts count(const PointSet<Real>& points) {
  const Context context{{}, host_exec(2), nullptr};
  const LaidOut<Real> laid_out(points, Layout::rows);
  return count_positions(context, laid_out.particles(), points.box);
}

}  // namespace

TEMPLATE_TEST_CASE("positions outside periodic axes are counted", "", float, double) {
  Box box = Box::periodic_cube(1);
  const PositionCounts counts = count(some_outside<TestType>(box));
  CHECK(counts.num_particles == 6);
  CHECK(counts.num_wrapped == 3);  // 1.0, -0.25, 3.5
  box.periodic[0] = false;
  CHECK_THROWS_AS(count(some_outside<TestType>(box)), InputError);
}

TEMPLATE_TEST_CASE("positions far outside a periodic box are refused", "", float, double) {
  const Box box = Box::periodic_cube(2);
  PointSet<TestType> points = some_outside<TestType>(box);
  const auto at = [&](std::size_t particle, double x, double y) {
    points.pos[3 * particle] = static_cast<TestType>(x);
    points.pos[3 * particle + 1] = static_cast<TestType>(y);
  };
  at(2, 2e4, -2e4);  // as far as is allowed
  CHECK(count(points).num_wrapped == 2);
  at(2, 0.5, -2.001e4);
  CHECK_THROWS_WITH(count(points), Catch::Contains("1 of 6 particles") &&
                                       Catch::Contains("10000 box sides") &&
                                       Catch::Contains("particle 2"));
  at(1, 1e30, 0.5);
  CHECK_THROWS_WITH(count(points),
                    Catch::Contains("2 of 6 particles") && Catch::Contains("particle 1"));
  points.box.periodic[0] = points.box.periodic[1] = false;
  points.box.length[0] = points.box.length[1] = 0;  // without walls
  CHECK(count(points).num_wrapped == 0);
}

TEST_CASE("a box for whose lengths there is no room is refused") {
  CHECK_THROWS_WITH(count(some_outside<float>(Box::periodic_cube(1e38))),
                    Catch::Contains("32 bits"));
  CHECK(count(some_outside<double>(Box::periodic_cube(1e38))).num_wrapped == 1);  // -0.25
  CHECK_THROWS_WITH(count(some_outside<double>(Box::periodic_cube(1e308))),
                    Catch::Contains("64 bits"));
  Box far = Box::periodic_cube(1);
  far.lo[1] = -1e38;
  CHECK_THROWS_WITH(count(some_outside<float>(far)),
                    Catch::Contains("reaches 1e+38 on axis 1") && Catch::Contains("32 bits"));
}

TEST_CASE("keys of a box of any extent raise no floating-point exception") {
  Extent extent;
  extent.range.total = 2;
  extent.hi = {{1, 2, 0.5}};
  for (const Box& box : {Box::periodic_cube(1), Box::unbounded()}) {
    for (const double cell : {0.0, 1e-3, 4.0}) {
      std::feclearexcept(FE_ALL_EXCEPT);
      const KeyFrameChoice choice = choose_key_frame(box, extent, cell, 1);
      CHECK(std::fetestexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW) == 0);
      CHECK(choice.fine_enough == (cell > 0));
      if (cell == 0) CHECK(choice.frame.bits_per_axis == 21);
    }
  }
}

}  // namespace zhalo::testing
