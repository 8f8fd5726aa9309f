/// Particles in many segments, as simulation codes hold them by cells: the domain is that of the
/// same particles in one segment.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <optional>

#include "tests/mpi/domain/analysed.hpp"
#include "zhalo/domain/domain.hpp"
#include "zhalo/fof/fof.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;

/// Columns of this rank's particles, in both precisions. All are whole numbers.
struct Columns {
  std::vector<float> mass, velocity;
  std::vector<double> double_mass, double_velocity;
  std::vector<std::uint8_t> type;

  explicit Columns(Index num) {
    for (Index i = 0; i < num; ++i) {
      mass.push_back(1 + static_cast<float>(i % 9));
      type.push_back(static_cast<std::uint8_t>(i % 5));
      for (Index axis = 0; axis < 3; ++axis)
        velocity.push_back(static_cast<float>((5 * i + axis) % 1001 - 500));
    }
    double_mass.assign(mass.begin(), mass.end());
    double_velocity.assign(velocity.begin(), velocity.end());
  }

  void show(Index first, ParticleSegment<float>& in) const {
    in.set_interleaved_velocity(velocity.data() + 3 * first);
    in.mass = mass.data() + first;
    in.type = {type.data() + first, 1};
  }
  void show_doubles(Index first, ParticleSegment<float>& in) const {
    show(first, in);
    in.mass = double_mass.data() + first;
    for (std::size_t axis = 0; axis < 3; ++axis)
      in.velocity[axis] = {double_velocity.data() + 3 * first + axis, 3 * sizeof(double)};
  }
};

/// Around the numbers of particles that are loaded at a time, empty ones, and tiny ones.
Particles<float> in_segments(const Analysed& a, const Columns& columns, bool with_doubles) {
  constexpr Index lengths[] = {1, 3, 0, 255, 7, 256, 16, 257, 0, 2, 400};
  Particles<float> cut;
  Index first = 0;
  for (std::size_t s = 0; first < a.share.count; ++s) {
    const Index length = std::min(lengths[s % std::size(lengths)], a.share.count - first);
    cut.segments.push_back(ParticleSegment<float>::interleaved(a.rows.data() + 3 * first, length));
    ParticleSegment<float>& segment = cut.segments.back();
    if (with_doubles && s % 2 == 1) {
      columns.show_doubles(first, segment);
    } else {
      columns.show(first, segment);
    }
    first += length;
  }
  return cut;
}

Index num_different(const Particles<float>& ours, const Particles<float>& theirs) {
  const ParticleSegment<float>&one = ours.segments[0], &other = theirs.segments[0];
  Index num = 0;
  for (Index i = 0; i < one.num; ++i) {
    bool equal = one.mass[i] == other.mass[i] && one.type[i] == other.type[i];
    for (std::size_t axis = 0; axis < 3; ++axis) {
      equal = equal && one.pos[axis][i] == other.pos[axis][i] &&
              one.velocity[axis][i] == other.velocity[axis][i];
    }
    num += equal ? 0 : 1;
  }
  return num;
}

TEST_CASE("domain: several species have no weights") {
  const Analysed a(30);
  const Context& context = a.context;
  const std::vector<double> rows(30, 0.5);
  const std::vector<std::uint32_t> weights(10, 1);
  Particles<double> particles;
  particles.segments = {ParticleSegment<double>::interleaved(rows.data(), 10)};
  const auto make = [&](int num) {
    const std::vector<Particles<double>> species(static_cast<std::size_t>(num), particles);
    return Domain<double>(context, species, Box::periodic_cube(1), {.weight = {weights.data()}});
  };
  CHECK(make(1).num_total() == 10 * context.comm.size());
  CHECK_THROWS_WITH(make(2), Catch::Contains("several species cannot be weighed"));
}

TEST_CASE("domain: nothing looks at the third axis of two") {
  Analysed a(300);
  const Context& context = a.context;
  Particles<float> particles;
  particles.dimensions = 2;
  particles.segments = {ParticleSegment<float>::interleaved(a.rows.data(), a.share.count)};
  Box box = Box::periodic_cube(1, 2);
  const Domain<float> expected(context, particles, box, {.min_length = 0.01});
  // No memory, and lengths that are neither equal on all ranks nor numbers.
  particles.segments[0].pos[2] = {reinterpret_cast<const float*>(std::uintptr_t{0x10}), 4};
  box.length[2] = context.comm.rank();
  box.lo[2] = std::numeric_limits<double>::quiet_NaN();
  box.periodic[2] = true;
  const Domain<float> domain(context, particles, box, {.min_length = 0.01});
  for (const int axis : {0, 1}) {
    const Span<const float> pos = domain.position(axis), wanted = expected.position(axis);
    CHECK(std::equal(pos.begin(), pos.end(), wanted.begin(), wanted.end()));
  }
  const auto label = to_host(context.exec, friends_of_friends(domain, {0.01}).label);
  const auto wanted = to_host(context.exec, friends_of_friends(expected, {0.01}).label);
  CHECK(std::equal(label.begin(), label.end(), wanted.begin(), wanted.end()));
}

TEST_CASE("domain: particles in segments of any length are as those in one") {
  Analysed a(9000);
  const Box& box = a.points.box;
  for (std::size_t i = 0; i < a.rows.size(); i += 7) a.rows[i] += 1;  // outside the box
  const Columns columns(a.share.count);
  columns.show(0, a.particles.segments[0]);
  const Domain<float> expected(a.context, a.particles, box);
  for (const bool with_doubles : {false, true}) {
    const Domain<float> found(a.context, in_segments(a, columns, with_doubles), box);
    CHECK(found.num_wrapped() == expected.num_wrapped());
    REQUIRE(found.num() == expected.num());
    CHECK(num_different(found.particles(), expected.particles()) == 0);
  }
  CHECK(expected.num_wrapped() > 0);
}

TEST_CASE("domain: copies are one domain, which lives as long as any of them") {
  Analysed a(300);
  std::optional<Domain<float>> first(Domain<float>(a.context, a.particles, a.points.box));
  const Domain<float> copy = *first;
  const Columns columns(a.share.count);
  columns.show(0, a.particles.segments[0]);
  first->add_columns({a.particles});
  CHECK(copy.particles().segments[0].pos[0].data == first->particles().segments[0].pos[0].data);
  first.reset();
  const Domain<float> expected(a.context, a.particles, a.points.box);
  REQUIRE(copy.num() == expected.num());
  CHECK(num_different(copy.particles(), expected.particles()) == 0);
}

TEST_CASE("domain: velocities of another precision between those of one") {
  struct Velocity {
    double x;
    float y, unused;
    double z;
  };
  Analysed a(300);
  std::vector<Velocity> rows;
  std::vector<double> y;
  for (Index i = a.share.first; i < a.share.first + a.share.count; ++i) {
    const auto number = static_cast<float>(i);
    rows.push_back({number + 0.25, number + 0.5F, 1, number + 0.75});
    y.push_back(rows.back().y);
  }
  rows.emplace_back();
  ParticleSegment<float>& segment = a.particles.segments[0];
  segment.velocity = {{RealColumn(&rows[0].x, sizeof(Velocity)),
                       RealColumn(&rows[0].y, sizeof(Velocity)),
                       RealColumn(&rows[0].z, sizeof(Velocity))}};
  const Domain<float> domain(a.context, a.particles, a.points.box);
  const RealColumn there = domain.particles().segments[0].velocity[1];
  std::vector<double> kept;
  for (Index i = 0; i < domain.num(); ++i) kept.push_back(there[i]);
  CHECK(kept == to_host(a.context.exec, domain.to_domain_order(y)));
}

}  // namespace
