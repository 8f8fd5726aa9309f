/// Friends-of-friends over ranks: for every number of ranks and every way to spread the particles,
/// the labels of one rank alone.
#include "zhalo/fof/fof.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

#include "tests/mpi/comm/failing_context.hpp"
#include "tests/mpi/comm/late_context.hpp"
#include "tests/support/over_ranks.hpp"
#include "tests/support/point_sets.hpp"
#include "zhalo/catalogue/catalogue.hpp"
#include "zhalo/core/error.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;

/// True if every rank got the labels of one rank alone.
template <class Real>
FofStatistics check_labels(const Context& context, const PointSet<Real>& point_set, Cut cut,
                           FofOptions options = {}) {
  const std::vector<Index> expected = labels_of_one_rank(point_set);
  const Share part = part_of(point_set.num(), cut, context.comm.rank(), context.comm.size());
  options.linking_length = point_set.linking_length;
  const FofResult result = fof_of_part(context, point_set, part, options);
  CHECK(result.num_total == point_set.num());
  CHECK(result.num_wrapped == count_wrapped(point_set));
  CHECK(to_host(context.exec, result.label) == slice(expected, part));
  CHECK(result.statistics.num_local ==
        share_of(point_set.num(), context.comm.rank(), context.comm.size()).count);
  return result.statistics;
}

/// A line that goes to and fro through a cube, row by row, in random order of the particles.
PointSet<float> filament(Index rows, double spacing) {
  PointSet<float> point_set;
  point_set.box = Box::unbounded();
  point_set.linking_length = 1;
  std::vector<Vec3d> points;
  const double pitch = 2.5;
  const Index per_row = static_cast<Index>(static_cast<double>(rows) * pitch / spacing);
  const double length = static_cast<double>(per_row - 1) * spacing;
  for (Index z = 0; z < rows; ++z) {
    for (Index y = 0; y < rows; ++y) {
      const bool up = z % 2 == 0;  // in y
      const double yy = static_cast<double>(up ? y : rows - 1 - y) * pitch;
      const bool forth = (z * rows + y) % 2 == 0;
      for (Index x = 0; x < per_row; ++x)
        points.push_back(
            {{forth ? static_cast<double>(x) * spacing : length - static_cast<double>(x) * spacing,
              yy, static_cast<double>(z) * pitch}});
      const bool last = y == rows - 1;
      if (last && z == rows - 1) break;
      for (double step = spacing; step < pitch; step += spacing) {
        Vec3d point = points[points.size() - 1];
        point[1] = last ? yy : yy + (up ? step : -step);
        point[2] = static_cast<double>(z) * pitch + (last ? step : 0);
        points.push_back(point);
        if (step + spacing >= pitch) break;
      }
    }
  }
  Random random(2);
  for (std::size_t i = points.size(); i-- > 1;)
    std::swap(points[i], points[static_cast<std::size_t>(random.below(static_cast<Index>(i) + 1))]);
  for (const Vec3d& p : points) {
    for (int axis = 0; axis < 3; ++axis) point_set.pos.push_back(static_cast<float>(p[axis]));
  }
  return point_set;
}

template <class Real>
PointSet<Real> periodic_points(Index num, double linking_length, Shape shape, std::uint64_t seed) {
  PointSet<Real> point_set;
  point_set.box = Box::periodic_cube(1);
  point_set.linking_length = linking_length;
  Random random(seed);
  fill(point_set, random, shape, num);
  return point_set;
}

}  // namespace

TEMPLATE_TEST_CASE("random point sets of every kind", "", float, double) {
  const Context context = make_context();
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const PointSet<TestType> point_set = random_points<TestType>(random);
    INFO("seed " << seed << ", " << point_set.num() << " particles");
    FofOptions options;
    options.leaf_size = static_cast<int>(1 + random.below(64));
    options.ghost_batch = random.pick({Index{0}, Index{1}, Index{7}});
    const Cut cut =
        random.pick({Cut::even, Cut::last_only, Cut::first_only, Cut::uneven, Cut::every_second});
    check_labels(context, point_set, cut, options);
  }
}

TEMPLATE_TEST_CASE("larger point sets", "", float, double) {
  const Context context = make_context();
  const Index num = 20000;
  const double b = 0.2 / std::cbrt(static_cast<double>(num));
  check_labels(context, periodic_points<TestType>(num, b, Shape::uniform, 1), Cut::even);
  check_labels(context, periodic_points<TestType>(num, 4 * b, Shape::uniform, 2), Cut::uneven);
  check_labels(context, periodic_points<TestType>(num, b, Shape::blobs, 3), Cut::last_only);
  check_labels(context, periodic_points<TestType>(num, b, Shape::blobs, 4), Cut::every_second,
               {.ghost_batch = 50});
  check_labels(context, periodic_points<TestType>(3000, 0.5, Shape::uniform, 5), Cut::even,
               {.ghost_batch = std::numeric_limits<Index>::max()});
  check_labels(context, periodic_points<TestType>(3000, 1e-9, Shape::uniform, 6), Cut::even);
}

TEST_CASE("particles that cannot be told apart, and fewer particles than ranks") {
  const Context context = make_context();
  for (const Index num : {0, 1, 2, 5, 4000}) {
    for (const Cut cut : all_cuts) {
      PointSet<float> point_set;
      point_set.box = Box::periodic_cube(1);
      point_set.linking_length = 0.01;
      point_set.pos.assign(static_cast<std::size_t>(3 * num), 0.25F);
      check_labels(context, point_set, cut);
    }
  }
}

TEST_CASE(
    "one filament that winds through all ranks a thousand times: the merge takes few rounds") {
  const Context context = make_context();
  const PointSet<float> point_set = filament(32, 0.9);
  const std::vector<Index> label = labels_of_one_rank(point_set);
  REQUIRE(std::all_of(label.begin(), label.end(), [](Index l) { return l == 0; }));
  const FofStatistics statistics = check_labels(context, point_set, Cut::even);
  const auto links = static_cast<double>(context.comm.sum(statistics.edges));
  if (context.comm.size() == 1) return;
  CHECK(links >= 1000);
  CHECK(static_cast<double>(statistics.rounds) <= std::log2(links) + 3);
}

TEST_CASE("of two ranks the one with fewer particles at the border sends them") {
  const Context context = make_context();
  PointSet<float> point_set;
  point_set.box = Box::unbounded();
  point_set.linking_length = 0.02;
  const Index num = 4000;  // of a dense cube, and of the line that begins beside it
  Random random(5);
  for (Index i = 0; i < num; ++i) {
    for (int axis = 0; axis < 3; ++axis)
      point_set.pos.push_back(static_cast<float>(0.1 + 0.02 * random.uniform()));
  }
  for (Index i = 0; i < num; ++i) {
    const double along = static_cast<double>(i) / static_cast<double>(num);
    for (const double x : {0.126 + 0.874 * along, 0.11, 0.11})
      point_set.pos.push_back(static_cast<float>(x));
  }
  for (int turn = 0; turn < 2; ++turn) {  // the line lies behind the cube, then before it
    const FofStatistics statistics = check_labels(context, point_set, Cut::even);
    if (context.comm.size() == 2) CHECK(context.comm.sum(statistics.ghosts_sent) < num / 20);
    for (float& x : point_set.pos) x = 1 - x;
  }
}

TEST_CASE("a rank receives few ghosts at a time, however many ranks send them") {
  const Context context = make_context();
  const Index batch = 50;
  const FofStatistics statistics =
      check_labels(context, periodic_points<float>(3000, 0.5, Shape::uniform, 5), Cut::even,
                   {.ghost_batch = batch});
  CHECK(statistics.max_ghosts_at_once <= batch + context.comm.size());
  const Index received = context.comm.max(statistics.ghosts_received);
  CHECK((context.comm.size() == 1) == (received == 0));
  CHECK(context.comm.max(statistics.max_ghosts_at_once) >= std::min(received, batch / 2));
}

TEST_CASE("short messages, late ranks, and staged transport change nothing") {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Random random(static_cast<std::uint64_t>(rank));
  CommunicatorOptions options;
  options.chunk_bytes = 1000 * 4;
  options.observer = [&](const char*) {
    std::this_thread::sleep_for(std::chrono::microseconds(random.below(500)));
  };
  SECTION("direct") {}
  SECTION("staged") { options.transport = Transport::staged; }
  const Context context = make_context(options);
  check_labels(context, periodic_points<float>(20000, 0.01, Shape::blobs, 7), Cut::uneven,
               {.ghost_batch = 100});
}

TEST_CASE("a rank that fails at any collective ends all with its message, and all can go on") {
  FailingContext failing;
  const Context& context = failing.context();
  const PointSet<float> point_set = periodic_points<float>(500, 0.05, Shape::uniform, 8);
  const Share part = part_of(point_set.num(), Cut::even, context.comm.rank(), context.comm.size());
  const auto find = [&] {
    return to_host(context.exec,
                   fof_of_part(context, point_set, part, {point_set.linking_length}).label);
  };
  const std::vector<Index> expected = failing.counted(find);
  const int culprit = context.comm.size() / 2;
  const int num_calls = failing.num_made_by(culprit);
  REQUIRE(num_calls > 10);
  failing.check_failures(culprit, num_calls, 3, find);
  CHECK(find() == expected);
}

TEST_CASE("bad input of one rank is an error on all") {
  const Context context = make_context();
  PointSet<float> point_set = periodic_points<float>(100, 0.05, Shape::uniform, 9);
  const Share part = part_of(point_set.num(), Cut::even, context.comm.rank(), context.comm.size());
  point_set.pos[3 * 99 + 1] = NAN;
  CHECK_THROWS_WITH(fof_of_part(context, point_set, part, {point_set.linking_length}),
                    Catch::StartsWith("1 of 100 particles have a position that is not finite"));
  point_set.pos[3 * 99 + 1] = 0;
  CHECK_THROWS_WITH(fof_of_part(context, point_set, part,
                                {context.comm.rank() == context.comm.size() - 1 ? -1 : 0.1}),
                    Catch::Contains("linking length is -1"));
  if (context.comm.size() == 1) return;
  CHECK_THROWS_WITH(fof_of_part(context, point_set, part, {context.comm.rank() == 0 ? 0.1 : 0.2}),
                    Catch::Contains("not the same on all ranks"));
}

TEST_CASE("an observer of phases that throws on one rank ends the call on all") {
  Context context = make_context({.timeout_seconds = 100});
  const PointSet<float> point_set = periodic_points<float>(400, 0.05, Shape::blobs, 10);
  const Share part = part_of(point_set.num(), Cut::even, context.comm.rank(), context.comm.size());
  const std::vector<float> rows = rows_of(point_set, part);
  Particles<float> particles;
  particles.segments.push_back(ParticleSegment<float>::interleaved(rows.data(), part.count));
  const auto find = [&] {
    const FofResult found =
        friends_of_friends(context, particles, point_set.box, {point_set.linking_length});
    make_catalogue(context, particles, point_set.box, found.label.span(), {.min_members = 2});
  };
  Timers seen;
  context.timers = &seen;
  find();
  const int culprit = context.comm.size() - 1;
  REQUIRE(seen.phases().size() >= 6);
  for (const Phase& phase : seen.phases()) {
    INFO(phase.name);
    Timers timers;
    timers.observe([&](const std::string& name) {
      if (context.comm.rank() == culprit && name == phase.name) throw Interrupted("stopped");
    });
    context.timers = &timers;
    CHECK_THROWS_AS(find(), Interrupted);
    CHECK(!context.comm.is_broken());
  }
}
