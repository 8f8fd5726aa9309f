/// Particles in Z-order over ranks: the order itself, the columns that travel, and the way back.
#include "zhalo/domain/z_order.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

#include "tests/support/over_ranks.hpp"
#include "tests/support/point_sets.hpp"
#include "zhalo/core/error.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;

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

Context make_context() {
  Context context;
  context.comm = Communicator(MPI_COMM_WORLD);
  context.exec = host_exec(2);
  return context;
}

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

  ZOrder<Real> sorted(const Context& context, const Box& box, bool weighted) const {
    Particles<Real> particles;
    particles.dimensions = box.dimensions;
    particles.segments.push_back(
        ParticleSegment<Real>::interleaved(rows.data(), share.count, box.dimensions));
    ZOrderOptions options;
    options.columns = {{tags.data(), share.count, sizeof(Tag)}, {smalls.data(), share.count, 2, 4}};
    if (weighted) options.weight = {weights.data()};
    return {context, particles, box, options};
  }
};

template <class Real>
void check_columns(const Context& context, const PointSet<Real>& points, const ZOrder<Real>& order,
                   const std::vector<Index>& expected) {
  const auto global = to_host(context.exec, order.global_index());
  CHECK(global == expected);
  bool right = true;
  for (Index i = 0; i < order.num(); ++i) {
    const Index which = global[static_cast<std::size_t>(i)];
    right = right && order.template column<Tag>(0)[i] == tag_of(which);
    right = right && order.template column<std::int16_t>(1)[i] == small_of(which);
    for (int axis = 0; axis < points.box.dimensions; ++axis)
      right = right && order.pos(axis)[i] == points.at(which, axis);
  }
  CHECK(right);
}

template <class Real>
void check_return(const Context& context, const Part<Real>& part, const ZOrder<Real>& order) {
  std::vector<double> values;
  for (const Index i : to_host(context.exec, order.global_index()))
    values.push_back(static_cast<double>(i) * 1.5);
  std::vector<double> back(static_cast<std::size_t>(part.share.count), -1);
  order.return_to_origin(Span<const double>(values), Span<double>(back));
  bool right = true;
  for (Index i = 0; i < part.share.count; ++i)
    right = right &&
            back[static_cast<std::size_t>(i)] == static_cast<double>(part.share.first + i) * 1.5;
  CHECK(right);
}

template <class Real>
void check_order(const PointSet<Real>& points, Cut cut) {
  const Context context = make_context();
  const int rank = context.comm.rank();
  const int size = context.comm.size();
  const Part<Real> part(points, part_of(points.num(), cut, rank, size));
  const ZOrder<Real> order = part.sorted(context, points.box, false);
  const Share share = share_of(points.num(), rank, size);
  CHECK(order.num() == share.count);
  CHECK(order.first() == share.first);
  CHECK(order.num_total() == points.num());
  CHECK(order.num_origin() == part.share.count);
  check_columns(context, points, order, slice(expected_order(points), share));
  check_return(context, part, order);
}

template <class Real>
PointSet<Real> points_of(Shape shape, Index num, int dimensions = 3) {
  PointSet<Real> points;
  points.box = Box::periodic_cube(1, dimensions);
  points.linking_length = 0.1;
  Random random(static_cast<std::uint64_t>(num) + 1);
  const Vec3d extent{{1, 1, 1}};
  Placer placer(random, shape, extent, 0.25);
  for (Index i = 0; i < num; ++i) {
    const Vec3d x = placer.place();
    for (int axis = 0; axis < dimensions; ++axis)
      points.pos.push_back(static_cast<Real>(std::clamp(x[axis], 0.0, 0.999999)));
  }
  return points;
}

}  // namespace

TEMPLATE_TEST_CASE("Z-order: every shape, every way to bring the particles", "", float, double) {
  const Shape shapes[] = {Shape::uniform,    Shape::blobs, Shape::lattice,
                          Shape::few_places, Shape::edges, Shape::lines};
  for (const Shape shape : shapes) {
    for (const Cut cut : all_cuts) check_order(points_of<TestType>(shape, 500), cut);
  }
  for (const Index num : {0, 1, 2, 7})
    check_order(points_of<TestType>(Shape::uniform, num), Cut::even);
  check_order(points_of<TestType>(Shape::uniform, 400, 2), Cut::uneven);
}

TEST_CASE("Z-order: sorted already, against the order, all equal") {
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

TEST_CASE("Z-order: parts of equal weight") {
  const Context context = make_context();
  const PointSet<double> points = points_of<double>(Shape::blobs, 700);
  const Part<double> part(
      points, part_of(points.num(), Cut::uneven, context.comm.rank(), context.comm.size()));
  const ZOrder<double> order = part.sorted(context, points.box, true);
  const std::vector<Index> all = expected_order(points);
  check_columns(context, points, order, slice(all, {order.first(), order.num()}));
  check_return(context, part, order);
  Index weight = 0;
  Index total = 0;
  for (const Index i : all) total += weight_of(i);
  for (const Index i : to_host(context.exec, order.global_index())) weight += weight_of(i);
  CHECK(std::abs(weight - total / context.comm.size()) <= 402);
  CHECK(context.comm.sum(order.num()) == points.num());
}

TEST_CASE("Z-order: bad sizes are errors on all ranks, with the number that is needed") {
  const Context context = make_context();
  const int size = context.comm.size();
  const PointSet<float> points = points_of<float>(Shape::uniform, 50);
  const Part<float> part(points, part_of(points.num(), Cut::even, context.comm.rank(), size));
  const ZOrder<float> order = part.sorted(context, points.box, false);
  std::vector<Tag> room(50);
  order.copy_column(0, room.data(), 50);
  CHECK(room[0] == tag_of(order.global_index()[0]));
  const Share last = share_of(points.num(), size - 1, size);
  const Index capacity = context.comm.rank() == size - 1 ? last.count - 1 : 50;
  CHECK_THROWS_WITH(
      order.copy_column(0, room.data(), capacity),
      Catch::Matchers::Contains("has " + std::to_string(last.count) +
                                " elements on this rank, the memory given has room for " +
                                std::to_string(last.count - 1)));
  CHECK_THROWS_WITH(order.column<float>(0), Catch::Matchers::Contains("not 4"));
  CHECK_THROWS_WITH(order.column<Tag>(2), Catch::Matchers::Contains("no travelling column 2"));
  std::vector<float> few(static_cast<std::size_t>(order.num() - 1));
  std::vector<float> back(static_cast<std::size_t>(part.share.count));
  CHECK_THROWS_AS(order.return_to_origin(Span<const float>(few), Span<float>(back)), InputError);
}

TEST_CASE("Z-order: ranks that do not ask for the same are told so, and can go on") {
  const Context context = make_context();
  if (context.comm.size() == 1) return;
  const bool odd = context.comm.rank() == 1;
  const PointSet<float> points = points_of<float>(Shape::uniform, 400);
  const Part<float> part(
      points, part_of(points.num(), Cut::even, context.comm.rank(), context.comm.size()));
  Particles<float> particles;
  particles.segments.push_back(
      ParticleSegment<float>::interleaved(part.rows.data(), part.share.count));
  const ColumnView tags{part.tags.data(), part.share.count, sizeof(Tag)};
  const auto sort = [&](const Box& box, const ZOrderOptions& options) {
    return ZOrder<float>(context, particles, box, options);
  };
  ZOrderOptions differing;
  if (!odd) differing.columns = {tags};
  CHECK_THROWS_WITH(sort(points.box, differing),
                    Catch::Matchers::Contains("the same travelling columns"));
  differing.columns = {{part.weights.data(), part.share.count, odd ? Index{2} : Index{4}}};
  CHECK_THROWS_WITH(sort(points.box, differing),
                    Catch::Matchers::Contains("the same travelling columns"));
  ZOrderOptions weighted;
  if (odd) weighted.weight = {part.weights.data()};
  CHECK_THROWS_WITH(sort(points.box, weighted),
                    Catch::Matchers::Contains("some ranks give weights"));
  CHECK_THROWS_WITH(sort(Box::periodic_cube(odd ? 2 : 1), {}),
                    Catch::Matchers::Contains("not the same on all ranks"));
  const ZOrder<float> order = sort(points.box, {.columns = {tags}});
  CHECK_THROWS_AS(order.copy_column<Tag>(odd ? 1 : 0, static_cast<Tag*>(nullptr), 0), InputError);
  check_return(context, part, order);
}
