/// Domains over ranks: the order itself, columns that go there and back, several species.
#include "zhalo/domain/domain.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

#include "tests/support/host_context.hpp"
#include "tests/support/over_ranks.hpp"
#include "tests/support/point_sets.hpp"
#include "zhalo/core/error.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;
using Catch::Contains;

/// What a simulation code carries besides positions; known for each global index.
struct Tag {
  std::int64_t id;
  float charge;
  std::uint8_t kind;
  bool operator==(const Tag&) const = default;
};

Tag tag_of(Index i) {
  return {i * 31 - 7, static_cast<float>(i) * 0.5F, static_cast<std::uint8_t>(i % 6)};
}
std::int16_t small_of(Index i) { return static_cast<std::int16_t>(i % 30011); }
std::uint32_t weight_of(Index i) { return static_cast<std::uint32_t>(1 + i % 5 * 100); }

/// Morton key by definition: bit by bit, x first.
template <class Real>
std::uint64_t key_of(const PointSet<Real>& points, Index i) {
  const int dimensions = points.box.dimensions;
  const int bits = dimensions == 3 ? 21 : 31;
  std::uint64_t key = 0;
  for (int bit = bits - 1; bit >= 0; --bit) {
    for (int axis = 0; axis < dimensions; ++axis) {
      const double fraction =
          (static_cast<double>(points.at(i, axis)) - points.box.lo[axis]) / points.box.length[0];
      const auto cell = static_cast<std::uint64_t>(std::ldexp(fraction, bits));
      key = key << 1 | (cell >> bit & 1);
    }
  }
  return key;
}

template <class Real>
std::vector<Index> expected_order(const PointSet<Real>& points) {
  std::vector<std::pair<std::uint64_t, Index>> order;
  for (Index i = 0; i < points.num(); ++i) order.emplace_back(key_of(points, i), i);
  std::sort(order.begin(), order.end());
  std::vector<Index> result;
  for (const auto& [key, i] : order) result.push_back(i);
  return result;
}

/// One rank's part with all its columns.
template <class Real>
struct Part {
  Share share;
  std::vector<Real> rows;
  std::vector<Tag> tags;
  std::vector<std::int16_t> smalls;
  std::vector<std::uint32_t> weights;

  Part(const PointSet<Real>& points, Share s) : share(s), rows(rows_of(points, s)) {
    for (Index i = s.first; i < s.first + s.count; ++i) {
      tags.push_back(tag_of(i));
      smalls.push_back(small_of(i));
      smalls.push_back(-1);  // between the elements
      weights.push_back(weight_of(i));
    }
    tags.emplace_back();
    smalls.push_back(0);
    weights.push_back(0);
  }

  Span<const Tag> own_tags() const { return {tags.data(), share.count}; }

  Domain<Real> sorted(const Context& context, const Box& box, bool weighted) const {
    Particles<Real> particles;
    particles.dimensions = box.dimensions;
    particles.segments.push_back(
        ParticleSegment<Real>::interleaved(rows.data(), share.count, box.dimensions));
    DomainOptions options;
    if (weighted) options.weight = {weights.data()};
    return {context, particles, box, options};
  }
};

template <class Real>
void check_columns(const Context& context, const PointSet<Real>& points, const Part<Real>& part,
                   const Domain<Real>& order, const std::vector<Index>& expected) {
  const auto global = to_host(context.exec, order.global_index());
  CHECK(global == expected);
  const Buffer<Tag> tags = order.to_domain_order(part.own_tags());
  Buffer<std::int16_t> smalls(context.exec, order.num(), "numbers with gaps between them");
  order.to_domain_order({part.smalls.data(), part.share.count, 2, 4},
                        {smalls.data(), smalls.size(), 2});
  bool right = true;
  for (Index i = 0; i < order.num(); ++i) {
    const Index which = global[static_cast<std::size_t>(i)];
    right = right && tags.span()[i] == tag_of(which);
    right = right && smalls.span()[i] == small_of(which);
    for (int axis = 0; axis < points.box.dimensions; ++axis)
      right = right && order.position(axis)[i] == points.at(which, axis);
  }
  CHECK(right);
}

template <class Real>
void check_return(const Context& context, const Part<Real>& part, const Domain<Real>& order) {
  std::vector<double> values;
  for (const Index i : to_host(context.exec, order.global_index()))
    values.push_back(static_cast<double>(i) * 1.5);
  const Buffer<double> back = order.to_caller_order(values);
  CHECK(back.size() == part.share.count);
  bool right = true;
  for (Index i = 0; i < part.share.count; ++i)
    right = right && back.span()[i] == static_cast<double>(part.share.first + i) * 1.5;
  CHECK(right);
}

template <class Real>
void check_order(const PointSet<Real>& points, Cut cut) {
  const Context context = host_context(2);
  const int rank = context.comm.rank();
  const int size = context.comm.size();
  const Part<Real> part(points, part_of(points.num(), cut, rank, size));
  const Domain<Real> order = part.sorted(context, points.box, false);
  const Share share = share_of(points.num(), rank, size);
  CHECK(order.num() == share.count);
  CHECK(order.first() == share.first);
  CHECK(order.num_total() == points.num());
  CHECK(order.num_origin() == part.share.count);
  check_columns(context, points, part, order, slice(expected_order(points), share));
  check_return(context, part, order);
}

template <class Real>
PointSet<Real> points_of(Shape shape, Index num, int dimensions = 3) {
  PointSet<Real> points;
  points.box = Box::periodic_cube(1, dimensions);
  points.linking_length = 0.1;
  Random random(static_cast<std::uint64_t>(num) + 1);
  const Vec3d extent{{1, 1, 1}};
  PositionSampler sampler(random, shape, extent, 0.25);
  for (Index i = 0; i < num; ++i) {
    const Vec3d x = sampler.position();
    for (int axis = 0; axis < dimensions; ++axis)
      points.pos.push_back(static_cast<Real>(std::clamp(x[axis], 0.0, 0.999999)));
  }
  return points;
}

}  // namespace

TEMPLATE_TEST_CASE("domain: every shape, every way to bring the particles", "", float, double) {
  const Shape shapes[] = {Shape::uniform,       Shape::blobs, Shape::lattice,
                          Shape::few_positions, Shape::edges, Shape::lines};
  for (const Shape shape : shapes) {
    for (const Cut cut : all_cuts) check_order(points_of<TestType>(shape, 500), cut);
  }
  for (const Index num : {0, 1, 2, 7})
    check_order(points_of<TestType>(Shape::uniform, num), Cut::even);
  check_order(points_of<TestType>(Shape::uniform, 400, 2), Cut::uneven);
}

TEST_CASE("domain: sorted already, against the order, all equal") {
  PointSet<double> points = points_of<double>(Shape::uniform, 300);
  const std::vector<Index> order = expected_order(points);
  PointSet<double> sorted = points;
  PointSet<double> reversed = points;
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (int axis = 0; axis < 3; ++axis) {
      sorted.pos[3 * i + static_cast<std::size_t>(axis)] = points.at(order[i], axis);
      reversed.pos[3 * i + static_cast<std::size_t>(axis)] =
          points.at(order[order.size() - 1 - i], axis);
    }
  }
  for (const Cut cut : all_cuts) {
    check_order(sorted, cut);
    check_order(reversed, cut);
  }
  points.pos.assign(points.pos.size(), 0.75);
  for (const Cut cut : all_cuts) check_order(points, cut);
}

TEST_CASE("domain: parts of equal weight") {
  const Context context = host_context(2);
  const PointSet<double> points = points_of<double>(Shape::blobs, 700);
  const Part<double> part(
      points, part_of(points.num(), Cut::uneven, context.comm.rank(), context.comm.size()));
  const Domain<double> order = part.sorted(context, points.box, true);
  const std::vector<Index> all = expected_order(points);
  check_columns(context, points, part, order, slice(all, {order.first(), order.num()}));
  check_return(context, part, order);
  Index weight = 0;
  Index total = 0;
  for (const Index i : all) total += weight_of(i);
  for (const Index i : to_host(context.exec, order.global_index())) weight += weight_of(i);
  CHECK(std::abs(weight - total / context.comm.size()) <= 402);
  CHECK(context.comm.sum(order.num()) == points.num());
}

TEST_CASE("domain: a weight of 0 is an error on all ranks") {
  const Context context = host_context(2);
  const PointSet<double> points = points_of<double>(Shape::uniform, 60);
  const int rank = context.comm.rank(), size = context.comm.size();
  Part<double> part(points, part_of(points.num(), Cut::even, rank, size));
  if (rank == size - 1) part.weights[1] = part.weights[4] = 0;
  CHECK_THROWS_WITH(part.sorted(context, points.box, true),
                    Contains("2 particles have weight 0 (must be at least 1)"));
}

TEST_CASE("domain: a rank without particles may give weights or none, whatever others give") {
  const Context context = host_context(2);
  const PointSet<double> points = points_of<double>(Shape::blobs, 300);
  const Share share =
      part_of(points.num(), Cut::last_only, context.comm.rank(), context.comm.size());
  Part<double> part(points, share);
  const std::vector<Index> all = expected_order(points);
  for (const bool weighted : {true, false}) {
    DomainOptions options;
    if (weighted != (share.count == 0)) options.weight = {part.weights.data()};
    Particles<double> particles;
    particles.segments = {ParticleSegment<double>::interleaved(part.rows.data(), share.count)};
    const Domain<double> order(context, particles, points.box, options);
    check_columns(context, points, part, order, slice(all, {order.first(), order.num()}));
    check_return(context, part, order);
    const Share even = share_of(points.num(), context.comm.rank(), context.comm.size());
    if (!weighted) CHECK(order.num() == even.count);
  }
}

TEST_CASE("domain: bad sizes are errors on all ranks, with the number that is needed") {
  const Context context = host_context(2);
  const int size = context.comm.size();
  const PointSet<float> points = points_of<float>(Shape::uniform, 50);
  const Part<float> part(points, part_of(points.num(), Cut::even, context.comm.rank(), size));
  const Domain<float> order = part.sorted(context, points.box, false);
  std::vector<Tag> room(50);
  const auto bring = [&](const ColumnView& column, Index capacity) {
    order.to_domain_order(column, {room.data(), capacity, sizeof(Tag)});
  };
  const ColumnView tags = column_view(part.own_tags());
  bring(tags, 50);
  CHECK(room[0] == tag_of(order.global_index()[0]));
  const Share last = share_of(points.num(), size - 1, size);
  const Index capacity = context.comm.rank() == size - 1 ? last.count - 1 : 50;
  CHECK_THROWS_WITH(bring(tags, capacity),
                    Contains("has " + std::to_string(last.count) +
                             " elements on this rank, the memory given has room for " +
                             std::to_string(last.count - 1)));
  CHECK_THROWS_WITH(bring({part.weights.data(), part.share.count, 4}, 50),
                    Contains("elements of 4 bytes cannot become elements of"));
  CHECK_THROWS_WITH(bring({nullptr, part.share.count, sizeof(Tag)}, 50), Contains("no memory"));
  const auto into_nothing = [&] {
    order.to_domain_order(tags, {nullptr, order.num(), sizeof(Tag)});
  };
  CHECK_THROWS_WITH(into_nothing(), Contains("has no memory"));
  const auto back_into_nothing = [&] {
    order.to_caller_order(column_view(order.global_index()),
                          {nullptr, order.num_origin(), sizeof(Index)});
  };
  CHECK_THROWS_WITH(back_into_nothing(), Contains("has no memory"));
  std::vector<Tag> both(room.size());
  const auto in_place = [&] {
    order.to_domain_order({both.data(), order.num_origin(), sizeof(Tag)},
                          {both.data(), 50, sizeof(Tag)});
  };
  CHECK_THROWS_WITH(in_place(), Contains("overlap"));
  CHECK_THROWS_WITH(order.position(0, 1), Contains("no species 1"));
  std::vector<float> few(static_cast<std::size_t>(order.num() - 1));
  CHECK_THROWS_WITH(order.to_caller_order(few), Contains("elements on this rank, which has "));
}

TEST_CASE("domain: a column may lie next to where it goes, but not in it") {
  const Context context = host_context(2);
  const PointSet<float> points = points_of<float>(Shape::uniform, 90);
  const Part<float> part(
      points, part_of(points.num(), Cut::even, context.comm.rank(), context.comm.size()));
  const Domain<float> order = part.sorted(context, points.box, false);
  const Index num = order.num_origin(), behind = 2 * num - 1;  // elements, with gaps between
  std::vector<std::int16_t> memory(static_cast<std::size_t>(2 * behind + order.num()));
  std::int16_t* const first = memory.data() + behind;
  const auto move = [&](std::int16_t* from, Index stride_bytes, Index to) {
    order.to_domain_order({from, num, 2, stride_bytes}, {first + to, order.num(), 2});
  };
  CHECK_NOTHROW(move(first, 4, behind));
  CHECK_NOTHROW(move(first + behind - 1, -4, behind));
  CHECK_NOTHROW(move(first - 1, -4, 0));
  CHECK_THROWS_WITH(move(first, 4, behind - 1), Contains("overlap"));
  CHECK_THROWS_WITH(move(first + behind - 1, -4, behind - 1), Contains("overlap"));
  CHECK_THROWS_WITH(move(first - 1, -4, -1), Contains("overlap"));
}

TEST_CASE("domain: a bad position of one of several species is an error that names it") {
  const Context context = host_context(2);
  const bool is_first = context.comm.rank() == 0;
  std::vector<float> dark(30, 0.5F), gas(30, 0.5F);
  const auto make = [&](const Box& box) {
    const Index num = is_first ? 10 : 0;
    const std::vector<Particles<float>> species{
        {.segments = {ParticleSegment<float>::interleaved(dark.data(), num)}},
        {.segments = {ParticleSegment<float>::interleaved(gas.data(), num)}}};
    return Domain<float>(context, species, box).num_total(1);
  };
  Box bounded = Box::periodic_cube(1);
  bounded.periodic[0] = false;
  CHECK(make(bounded) == 10);
  gas[3] = 2;
  CHECK_THROWS_WITH(make(bounded), Contains("1 of 10 particles of species 1 lie outside the box") &&
                                       Contains("the first is particle 1"));
  dark[7] = NAN;
  CHECK_THROWS_WITH(make(bounded), Contains("1 of 10 particles of species 0 have a position"));
}

TEST_CASE("domain: ranks that do not ask for the same are told so, and can go on") {
  const Context context = host_context(2);
  if (context.comm.size() == 1) return;
  const bool odd = context.comm.rank() == 1;
  const PointSet<float> points = points_of<float>(Shape::uniform, 400);
  const Part<float> part(
      points, part_of(points.num(), Cut::even, context.comm.rank(), context.comm.size()));
  Particles<float> particles;
  particles.segments.push_back(
      ParticleSegment<float>::interleaved(part.rows.data(), part.share.count));
  const auto sort = [&](const Box& box, const DomainOptions& options) {
    return Domain<float>(context, particles, box, options);
  };
  DomainOptions weighted;
  if (odd) weighted.weight = {part.weights.data()};
  CHECK_THROWS_WITH(sort(points.box, weighted), Contains("some ranks give weights"));
  CHECK_THROWS_WITH(sort(Box::periodic_cube(odd ? 2 : 1), {}),
                    Contains("not the same on all ranks"));
  CHECK_THROWS_WITH(count_positions(context, particles, Box::periodic_cube(odd ? 1e-9 : 1)),
                    Contains("the box is not the same on all ranks"));
  Particles<float> none;
  none.dimensions = odd ? 2 : 3;
  CHECK_THROWS_WITH(count_positions(context, none, Box::periodic_cube(1, none.dimensions)),
                    Contains("dimensions is not the same on all ranks") && Contains("without"));
  CHECK_THROWS_WITH(sort(points.box, {.min_length = odd ? 0.125 : 0.25}),
                    Contains("min_length is not the same on all ranks: 0."));
  std::vector<Particles<float>> species(odd ? 1 : 2, particles);
  CHECK_THROWS_WITH(Domain<float>(context, species, points.box),
                    Contains("do not give as many species"));
  const Domain<float> order = sort(points.box, {});
  Buffer<std::byte> room(context.exec, 8 * order.num(), "elements of any size");
  const Index size = odd ? 2 : 4;
  CHECK_THROWS_WITH(order.to_domain_order({part.weights.data(), part.share.count, size, 4},
                                          {room.data(), order.num(), size}),
                    Contains("different sizes on different ranks"));
  check_return(context, part, order);
}

TEST_CASE("domain: several species are cut at the same keys, each in its own order") {
  const Context context = host_context(2);
  const PointSet<double> all = points_of<double>(Shape::blobs, 600);
  const Share share = part_of(all.num(), Cut::uneven, context.comm.rank(), context.comm.size());
  std::vector<double> rows[2];  // even and odd points
  std::vector<Index> which[2];
  for (Index i = share.first; i < share.first + share.count; ++i) {
    which[i % 2].push_back(i);
    for (int axis = 0; axis < 3; ++axis) rows[i % 2].push_back(all.at(i, axis));
  }
  std::vector<Particles<double>> species(2);
  for (std::size_t s = 0; s < 2; ++s)
    species[s].segments = {
        ParticleSegment<double>::interleaved(rows[s].data(), static_cast<Index>(which[s].size()))};
  const Domain<double> domain(context, species, all.box);
  CHECK(domain.num_species() == 2);

  // Rank after rank, the keys of both species ascend: none of a rank lies below one of the last.
  std::uint64_t lowest = ~std::uint64_t{0}, highest = 0;
  for (int s = 0; s < 2; ++s) {
    const auto indices = domain.to_domain_order(which[s], s);
    std::uint64_t before = 0;
    for (const Index i : to_host(context.exec, indices)) {
      const std::uint64_t key = key_of(all, i);
      CHECK(key >= before);
      before = key;
      lowest = std::min(lowest, key);
      highest = std::max(highest, key);
    }
    CHECK(to_host(context.exec, domain.to_caller_order(indices.span(), s)) == which[s]);
  }
  CHECK(context.comm.sum(domain.num(0)) == 300);
  CHECK(domain.num_total(1) == 300);
  CHECK(std::abs(domain.num(0) + domain.num(1) - 600 / context.comm.size()) <= 1);
  const std::vector<std::uint64_t> highest_of = context.comm.all_gather(highest);
  for (int rank = 0; rank < context.comm.rank(); ++rank)
    CHECK(highest_of[static_cast<std::size_t>(rank)] <= lowest);
}
