/// What friends_of_friends refuses, and with which words.
#include <catch2/catch.hpp>

#include "tests/support/run_fof.hpp"
#include "zhalo/core/error.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;
using Catch::Contains;
using Catch::Matchers::Message;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

/// The message of the InputError, or what happened instead.
template <class Work>
std::string refusal(const Work& work) {
  try {
    work();
  } catch (const InputError& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("another error: ") + error.what();
  }
  return "no error";
}

std::string refusal_of(const Box& box, const FofOptions& options) {
  return refusal([&] {
    const std::vector<float> pos{0.1F, 0.2F, 0.3F};
    Particles<float> particles;
    particles.dimensions = box.dimensions;
    particles.segments.push_back(
        ParticleSegment<float>::interleaved(pos.data(), 1, box.dimensions == 2 ? 2 : 3));
    friends_of_friends(Context{}, particles, box, options);
  });
}

template <class Real>
std::string refusal_of(const PointSet<Real>& points, Layout layout = Layout::rows) {
  return refusal([&] { run_fof(points, {32, 2, layout}); });
}

/// A thousand particles inside the unit cube.
template <class Real>
PointSet<Real> good_points(const Box& box) {
  return {std::vector<Real>(3000, Real{0.5}), box, 0.1};
}

}  // namespace

TEST_CASE("linking lengths that are refused") {
  const Box box = Box::periodic_cube(1);
  CHECK_THAT(refusal_of(box, {0.0}),
             Contains("linking length is 0 ") && Contains("must be positive"));
  CHECK_THAT(refusal_of(box, {-0.25}),
             Contains("linking length is -0.25") && Contains("must be positive"));
  CHECK_THAT(refusal_of(box, {not_a_number}), Contains("linking length is nan"));
  CHECK_THAT(refusal_of(box, {infinite}), Contains("linking length is inf"));
  CHECK_THAT(refusal_of(box, {0.51}), Contains("0.51") && Contains("more than half") &&
                                          Contains("axis 0") && Contains("unit"));
  CHECK(refusal_of(box, {0.5}) == "no error");
  CHECK(refusal_of(Box::unbounded(), {0.51}) == "no error");
  Box flat = box;
  flat.length[1] = 0.3;
  CHECK_THAT(refusal_of(flat, {0.2}), Contains("axis 1") && Contains("0.3"));
  flat.periodic[1] = false;
  CHECK(refusal_of(flat, {0.2}) == "no error");
}

TEST_CASE("leaf sizes that are refused") {
  const int leaf_size = GENERATE(-1, 65, 1000);
  CHECK_THAT(refusal_of(Box::periodic_cube(1), {0.1, leaf_size}),
             Contains("leaf size is " + std::to_string(leaf_size)) && Contains("1 to 64"));
  CHECK(refusal_of(Box::periodic_cube(1), {0.1, 0}) == "no error");
}

TEST_CASE("boxes that are refused") {
  Box box = Box::periodic_cube(1);
  box.length[2] = 0;
  CHECK_THAT(refusal_of(box, {0.1}),
             Contains("axis 2") && Contains("periodic") && Contains("no length"));
  box.dimensions = 2;
  CHECK(refusal_of(box, {0.1}) == "no error");
  for (const double bad : {-1.0, not_a_number, infinite}) {
    box = Box::periodic_cube(1);
    box.length[1] = bad;
    CHECK_THAT(refusal_of(box, {0.1}), Contains("axis 1") && Contains("length"));
    box.periodic[1] = false;
    CHECK_THAT(refusal_of(box, {0.1}), Contains("axis 1") && Contains("length"));
  }
  box = Box::periodic_cube(1);
  box.lo[0] = not_a_number;
  CHECK_THAT(refusal_of(box, {0.1}), Contains("axis 0") && Contains("nan"));
  for (const int dimensions : {0, 1, 4}) {
    box = Box::unbounded(dimensions);
    CHECK_THAT(refusal_of(box, {0.1}),
               Contains(std::to_string(dimensions) + " dimensions") && Contains("2 or 3"));
  }
}

TEST_CASE("particles of other dimensions than the box, or than their memory") {
  const std::vector<float> pos(12, 0.5F);
  const auto with = [&](int particles_dimensions, int row_dimensions, int box_dimensions) {
    return refusal([&] {
      Particles<float> particles;
      particles.dimensions = particles_dimensions;
      particles.segments.push_back(
          ParticleSegment<float>::interleaved(pos.data(), 2, row_dimensions));
      friends_of_friends(Context{}, particles, Box::periodic_cube(1, box_dimensions), {0.1});
    });
  };
  CHECK_THAT(with(2, 2, 3), Contains("particles have 2 dimensions, the box has 3"));
  CHECK_THAT(with(3, 3, 2), Contains("particles have 3 dimensions, the box has 2"));
  CHECK_THAT(with(3, 2, 3), Contains("segment 0") && Contains("no positions on axis 2"));
  CHECK_THAT(with(3, 4, 3), Contains("4 dimensions"));
  CHECK(with(2, 3, 2) == "no error");
  Particles<float> particles;
  particles.segments.emplace_back().num = 4;
  for (std::size_t axis = 0; axis < 3; ++axis)
    particles.segments[0].pos[axis] = {pos.data() + axis, axis == 1 ? Index{0} : Index{12}};
  CHECK_THAT(refusal([&] { friends_of_friends(Context{}, particles, Box::unbounded(), {0.1}); }),
             Contains("segment 0 on axis 1") && Contains("stride of 0 bytes"));
  particles.segments[0].num = 1;
  CHECK(refusal([&] { friends_of_friends(Context{}, particles, Box::unbounded(), {0.1}); }) ==
        "no error");
  particles.segments[0].num = -5;
  CHECK_THAT(refusal([&] { friends_of_friends(Context{}, particles, Box::unbounded(), {0.1}); }),
             Contains("segment 0") && Contains("-5"));
}

TEMPLATE_TEST_CASE("positions that are not finite: how many, and the first", "", float, double) {
  const Box box = GENERATE(Box::periodic_cube(1), Box::unbounded());
  const Layout layout = GENERATE(Layout::rows, Layout::segments, Layout::structs);
  for (const double bad : {not_a_number, infinite, -infinite}) {
    for (const std::size_t axis : {0U, 1U, 2U}) {
      PointSet<TestType> points = good_points<TestType>(box);
      for (const std::size_t i : {300U, 123U, 999U})
        points.pos[3 * i + axis] = static_cast<TestType>(bad);
      CHECK_THAT(refusal_of(points, layout), Contains("3 of 1000 particles") &&
                                                 Contains("not finite") &&
                                                 Contains("particle 123"));
    }
  }
}

TEMPLATE_TEST_CASE("particles outside a box without periodicity: how many, and the first", "",
                   float, double) {
  Box box = Box::periodic_cube(1);
  box.periodic = {};
  PointSet<TestType> points = good_points<TestType>(box);
  points.pos[3 * 17] = 0;
  points.pos[3 * 18 + 1] = 1;
  CHECK(refusal_of(points) == "no error");
  points.pos[3 * 400 + 1] = TestType(1.001);
  points.pos[3 * 70 + 2] = TestType(-0.001);
  CHECK_THAT(refusal_of(points), Contains("2 of 1000 particles") && Contains("outside the box") &&
                                     Contains("particle 70"));
  points.box.periodic[1] = true;
  CHECK_THAT(refusal_of(points), Contains("1 of 1000 particles") && Contains("particle 70"));
  points.box.periodic[2] = true;
  CHECK(refusal_of(points) == "no error");
}

TEST_CASE("a float at the edge of a box whose length is not a float is inside") {
  // 0.1F is a little more than 0.1, and 0.7F a little less than 0.7.
  Box box = Box::unbounded();
  box.length = {{0.1, 0.1, 0.3}};
  box.lo = {{0, 0, 0.7}};
  CHECK(refusal_of(PointSet<float>{{0.1F, 0.1F, 0.7F, 0, 0, 1}, box, 0.01}) == "no error");
  const float beyond = std::nextafter(0.1F, 1.0F);
  CHECK_THAT(refusal_of(PointSet<float>{{0, beyond, 0.8F}, box, 0.01}),
             Contains("1 of 1 particles"));
}

TEST_CASE("numbers of threads") {
  CHECK_THROWS_MATCHES(host_exec(-1), InputError,
                       Message("number of threads is -1 (must be 0, for all, or positive)"));
  // Made by hand, 0 is all as well.
  const PointSet<float> points{{0, 0, 0, 0.05F, 0, 0, 0.5F, 0, 0}, Box::periodic_cube(1), 0.1};
  const LaidOut<float> laid_out(points, Layout::rows);
  Context context;
  context.exec = Host{};
  const FofResult result =
      friends_of_friends(context, laid_out.particles(), points.box, {points.linking_length});
  CHECK(to_host(context.exec, result.label) == std::vector<Index>{0, 0, 2});
}
