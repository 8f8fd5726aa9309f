/// Keys, frames and the Z-order sort, against their definitions.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "kernels/particles.hpp"
#include "src/domain/positions.hpp"
#include "tests/support/point_sets.hpp"
#include "tests/support/run_fof.hpp"
#include "tests/unit/tree/shared_bits.hpp"
#include "zhalo/core/error.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;

/// Bit by bit: the highest bits of x, y (and z), then the next ones.
std::uint64_t interleaved(const std::vector<std::uint32_t>& cell, int bits) {
  std::uint64_t key = 0;
  for (int bit = bits - 1; bit >= 0; --bit) {
    for (const std::uint32_t c : cell) key = key << 1 | (c >> bit & 1U);
  }
  return key;
}

template <class Real>
struct Sorted {
  Context context;
  LaidOut<Real> laid_out;
  SegmentTable<Real> input;
  Extent extent;
  KeyFrameChoice choice;
  SortedColumns<Real> particles;

  Sorted(const PointSet<Real>& points, double cell, double scale, const Run& run = {})
      : context{{}, host_exec(run.threads), nullptr},
        laid_out(points, run.layout),
        input(context.exec, laid_out.particles()),
        extent(examine_positions(context, input.view(), points.box)),
        choice(choose_key_frame(points.box, extent, cell, scale)),
        particles(sort_particles(context, input.view(), choice.frame)) {}
};

/// A frame of a box alone.
kernels::KeyFrame frame_of(double lo, double length) {
  kernels::KeyFrame frame;
  frame.box = Box::periodic_cube(length);
  frame.box.lo = {{lo, lo, lo}};
  return frame;
}

}  // namespace

TEST_CASE("Morton keys are the cell numbers' bits in turn") {
  Random random(1);
  for (int i = 0; i < 2000; ++i) {
    const auto draw = [&](int bits) {
      return static_cast<std::uint32_t>(random.bits() >> 32) >> (32 - bits);
    };
    const std::uint32_t x = draw(21);
    const std::uint32_t y = draw(21);
    const std::uint32_t z = draw(21);
    REQUIRE(kernels::morton3(x, y, z) == interleaved({x, y, z}, 21));
    const std::uint32_t u = draw(31);
    const std::uint32_t v = draw(31);
    REQUIRE(kernels::morton2(u, v) == interleaved({u, v}, 31));
  }
  const std::uint32_t all3 = (1U << 21) - 1;
  const std::uint32_t all2 = (1U << 31) - 1;
  CHECK(kernels::morton3(all3, all3, all3) == (std::uint64_t{1} << 63) - 1);
  CHECK(kernels::morton2(all2, all2) == (std::uint64_t{1} << 62) - 1);
  CHECK(kernels::morton3(0, 0, 0) == 0);
}

TEST_CASE("common prefixes of keys") {
  Random random(2);
  for (int i = 0; i < 2000; ++i) {
    const int bits = static_cast<int>(random.below(64));
    const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
    const std::uint64_t a = random.bits() & mask;
    const std::uint64_t b = (a ^ random.bits() >> random.below(64)) & mask;
    REQUIRE(kernels::common_prefix(a, b, bits) == shared_bits(a, b, bits));
    REQUIRE(kernels::common_prefix(a, a, bits) == bits);
  }
}

TEST_CASE("frames wrap into [lo, lo + length), in the positions' own precision") {
  const double lo = GENERATE(0.0, -37.5, 0.1, 0.7, 1e6);
  const double length = GENERATE(1.0, 0.3, 170.3, 75.0);
  const kernels::KeyFrame frame = frame_of(lo, length);
  Random random(3);
  const auto check = [&](auto x) {
    using Real = decltype(x);
    const Real wrapped = frame.wrapped(x, 0);
    CAPTURE(x, wrapped, lo, length);
    REQUIRE(static_cast<double>(wrapped) >= lo);
    REQUIRE(static_cast<double>(wrapped) < lo + length);
    REQUIRE(frame.wrapped(wrapped, 0) == wrapped);
    // A whole number of periods away, but for rounding.
    const double size = std::abs(lo) + length + std::abs(static_cast<double>(x));
    const double off =
        std::abs(std::remainder(static_cast<double>(x) - static_cast<double>(wrapped), length));
    REQUIRE(off <= 4 * size * static_cast<double>(std::numeric_limits<Real>::epsilon()));
  };
  for (int i = 0; i < 500; ++i) {
    const double x = lo + random.uniform(-3, 3) * length;
    check(x);
    check(static_cast<float>(x));
  }
  CHECK(frame.wrapped(lo, 0) == lo);
  CHECK(frame.wrapped(lo + length, 0) == lo);
  const double inside = std::nextafter(lo + length, lo);
  CHECK(frame.wrapped(inside, 0) == inside);
  check(std::nextafter(lo + length, 1e300));
  check(std::nextafter(lo, -1e300));
  check(static_cast<float>(lo + length));
  check(static_cast<float>(lo));
}

TEST_CASE("frames leave axes alone that are not periodic, and survive what has no image") {
  kernels::KeyFrame frame = frame_of(0, 1);
  frame.box.periodic[1] = false;
  CHECK(frame.wrapped(5.5, 1) == 5.5);
  CHECK(frame.wrapped(-5.5F, 1) == -5.5F);
  for (const double far : {1e30, -1e30, 1e300, -1e300, std::numeric_limits<double>::max()}) {
    CHECK(frame.wrapped(far, 0) >= 0);
    CHECK(frame.wrapped(far, 0) < 1);
  }
}

TEST_CASE("frames choose cells of the wanted side or smaller, or as small as keys can have") {
  const int dimensions = GENERATE(2, 3);
  const bool periodic = GENERATE(false, true);
  const double cell = GENERATE(10.0, 1.0, 0.3, 1e-3, 1e-6, 1e-8, 1e-12);
  Box box = periodic ? Box::periodic_cube(2, dimensions) : Box::unbounded(dimensions);
  if (periodic) box.length[1] = 1;
  Extent extent;
  extent.range = {0, 10};
  extent.lo = {{-1, -1, 0}};
  extent.hi = {{1, 0, 0}};
  const KeyFrameChoice choice = choose_key_frame(box, extent, cell, 4);
  const int max_bits = dimensions == 3 ? 21 : 31;
  const kernels::KeyFrame& frame = choice.frame;
  CHECK(frame.scale == 4);
  CHECK(frame.bits_per_axis >= 0);
  CHECK(frame.bits_per_axis <= max_bits);
  CHECK(frame.key_bits() == frame.bits_per_axis * dimensions);
  CHECK(frame.corner == (periodic ? Vec3d{} : (dimensions == 3 ? extent.lo : Vec3d{{-1, -1, 0}})));
  const double side = 1 / frame.cells_per_length;
  CHECK(side == Approx(2 * std::ldexp(1.0, -frame.bits_per_axis)));  // the longest axis is 2
  CHECK(choice.fine_enough == (side <= cell));
  if (choice.fine_enough && frame.bits_per_axis > 0) CHECK(2 * side > cell);
  if (!choice.fine_enough) CHECK(frame.bits_per_axis == max_bits);
}

TEST_CASE("frames of no particles, and of particles at one position, have one cell") {
  Extent extent;
  for (const Index total : {0, 5}) {
    extent.range.total = total;
    extent.lo = extent.hi = total == 0 ? Vec3d{{1e308, 1e308, 1e308}} : Vec3d{{3, 4, 5}};
    const KeyFrameChoice choice = choose_key_frame(Box::unbounded(), extent, 0.1, 1);
    CHECK(choice.frame.bits_per_axis == 0);
    CHECK(choice.fine_enough);
  }
}

/// A permutation in the order of keys, the keys by their definition, the coordinates of each
/// particle.
template <class Real>
void check_sorted(const Sorted<Real>& sorted, const PointSet<Real>& points) {
  const kernels::KeyFrame& frame = sorted.choice.frame;
  const auto keys = sorted.particles.keys.span();
  const auto order = sorted.particles.order.span();
  REQUIRE(keys.size() == points.num());
  std::vector<bool> seen(static_cast<std::size_t>(points.num()), false);
  for (Index k = 0; k < points.num(); ++k) {
    const Index i = order[k];
    REQUIRE(i < points.num());
    REQUIRE_FALSE(seen[static_cast<std::size_t>(i)]);
    seen[static_cast<std::size_t>(i)] = true;
    if (k > 0) REQUIRE(keys[k - 1] <= keys[k]);
    if (k > 0 && keys[k - 1] == keys[k]) REQUIRE(order[k - 1] < order[k]);
    std::vector<std::uint32_t> cell;
    for (int axis = 0; axis < points.box.dimensions; ++axis) {
      const Real x = frame.wrapped(points.at(i, axis), axis);
      const double at = (static_cast<double>(x) - frame.corner[axis]) * frame.cells_per_length;
      const double last = std::ldexp(1.0, frame.bits_per_axis) - 1;
      cell.push_back(static_cast<std::uint32_t>(std::clamp(at, 0.0, last)));
      REQUIRE(static_cast<double>(sorted.particles.pos[axis].span()[k]) ==
              static_cast<double>(x) * frame.scale);
    }
    REQUIRE(keys[k] == interleaved(cell, frame.bits_per_axis));
    if (points.box.dimensions == 2) REQUIRE(sorted.particles.pos[2].span()[k] == 0);
  }
}

TEMPLATE_TEST_CASE("sorting: a permutation in key order, with the coordinates of each particle", "",
                   float, double) {
  for (std::uint64_t seed = 0; seed < (ZHALO_CHECKED ? 60 : 300); ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const PointSet<TestType> points = random_points<TestType>(random);
    const double scale = std::ldexp(1.0, -std::ilogb(points.linking_length));
    const Run run{32, 1 + static_cast<int>(seed % 3), static_cast<Layout>(seed % num_layouts)};
    check_sorted(Sorted<TestType>(points, points.linking_length, scale, run), points);
  }
}

/// Many points in the unit cube, all but every 50th of them in a cube of side `side`, some of them
/// more than once.
template <class Real>
PointSet<Real> dense_points(Index num, double side, int dimensions, std::uint64_t seed) {
  PointSet<Real> points;
  points.box = Box::periodic_cube(1, dimensions);
  Random random(seed);
  for (Index i = 0; i < num; ++i) {
    for (int axis = 0; axis < dimensions; ++axis) {
      const bool is_again = i % 7 == 6;
      const double x = i % 50 == 0 ? random.uniform(-0.5, 1.5) : 0.3 + side * random.uniform(0, 1);
      points.pos.push_back(
          is_again ? points.pos[points.pos.size() - static_cast<std::size_t>(3 * dimensions)]
                   : static_cast<Real>(x));
    }
  }
  return points;
}

TEMPLATE_TEST_CASE("sorting: many particles, in few cells, by few bits and by all", "", float,
                   double) {
  const double side = GENERATE(0.7, 1e-2, 1e-6, 0.0);
  const double cell = GENERATE(1e-2, 1e-12);
  const int threads = GENERATE(1, 3);
  const int dimensions = threads == 1 ? 3 : 2;
  CAPTURE(side, cell, threads);
  const auto points = dense_points<TestType>(ZHALO_CHECKED ? 30'000 : 60'000, side, dimensions, 5);
  check_sorted(Sorted<TestType>(points, cell, 0.5, {32, threads, Layout::rows}), points);
}

TEMPLATE_TEST_CASE("examining: extent, number of wrapped particles, range", "", float, double) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const PointSet<TestType> points = random_points<TestType>(random);
    const Run run{32, 2, static_cast<Layout>(seed % num_layouts)};
    const Sorted<TestType> sorted(points, points.linking_length, 1, run);
    CHECK(sorted.extent.num_wrapped == count_wrapped(points));
    CHECK(sorted.extent.range.first == 0);
    CHECK(sorted.extent.range.total == points.num());
    for (int axis = 0; axis < points.box.dimensions && points.num() > 0; ++axis) {
      TestType lo = points.at(0, axis);
      TestType hi = lo;
      for (Index i = 0; i < points.num(); ++i) {
        lo = std::min(lo, points.at(i, axis));
        hi = std::max(hi, points.at(i, axis));
      }
      CHECK(sorted.extent.lo[axis] == static_cast<double>(lo));
      CHECK(sorted.extent.hi[axis] == static_cast<double>(hi));
    }
  }
}

TEST_CASE("particles: segments, counts, interleaved views") {
  const std::vector<float> pos{1, 2, 3, 4, 5, 6};
  const std::vector<float> velocity{10, 20, 30, 40, 50, 60};
  auto segment = ParticleSegment<float>::interleaved(pos.data(), 2);
  CHECK(segment.num == 2);
  CHECK(segment.pos[0][1] == 4);
  CHECK(segment.pos[2][0] == 3);
  CHECK_FALSE(static_cast<bool>(segment.velocity[0]));
  segment.set_interleaved_velocity(velocity.data());
  CHECK(segment.velocity[1][1] == 50);
  const auto flat = ParticleSegment<float>::interleaved(pos.data(), 3, 2);
  CHECK(flat.pos[1][2] == 6);
  CHECK_FALSE(static_cast<bool>(flat.pos[2]));
  CHECK_THROWS_AS(ParticleSegment<float>::interleaved(pos.data(), 2, 4), InputError);
  CHECK_THROWS_AS(ParticleSegment<float>::interleaved(pos.data(), 2, 1), InputError);
  CHECK_THROWS_AS(segment.set_interleaved_velocity(velocity.data(), 0), InputError);
  Particles<float> particles;
  CHECK(particles.num() == 0);
  particles.segments = {segment, {}, segment};
  CHECK(particles.num() == 4);
}
