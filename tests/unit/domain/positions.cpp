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

TEST_CASE("a box for whose lengths there is no room is refused") {
  CHECK_THROWS_WITH(count(some_outside<float>(Box::periodic_cube(1e38))),
                    Catch::Contains("32 bits"));
  CHECK(count(some_outside<double>(Box::periodic_cube(1e38))).num_wrapped == 1);  // -0.25
  CHECK_THROWS_WITH(count(some_outside<double>(Box::periodic_cube(1e308))),
                    Catch::Contains("64 bits"));
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
