/// Many particles: groups that are known by construction, and results that may not depend on how
/// they are computed.
#include <catch2/catch.hpp>
#include <map>

#include "tests/support/random.hpp"
#include "tests/support/run_fof.hpp"
#include "tests/support/vector_targets.hpp"
#include "zhalo/ics/points.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;
using Label = std::vector<Index>;

constexpr Index many = ZHALO_CHECKED ? 12'000 : 200'000;

PointSet<float> bench_points(points::Kind kind, Index num, double b) {
  const double separation = 1 / std::cbrt(static_cast<double>(num));
  return {points::make_points(kind, num).pos, Box::periodic_cube(1), b * separation};
}

template <class Real>
void append_ball(PointSet<Real>& point_set, Random& random, const Vec3d& centre, double radius,
                 Index num) {
  for (Index i = 0; i < num; ++i) {
    Vec3d x;
    do {
      for (int axis = 0; axis < 3; ++axis) x[axis] = random.uniform(-1, 1);
    } while (x[0] * x[0] + x[1] * x[1] + x[2] * x[2] > 1);
    for (int axis = 0; axis < 3; ++axis)
      point_set.pos.push_back(static_cast<Real>(centre[axis] + radius * x[axis]));
  }
}

/// `num` labels `label`.
Label repeated(Index num, Index label) { return Label(static_cast<std::size_t>(num), label); }

Label operator+(Label a, const Label& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// What labels become if particle order[k] is now particle k.
Label permuted(const Label& label, const std::vector<Index>& order) {
  std::map<Index, Index> smallest;
  Label result(label.size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    const Index old = label[static_cast<std::size_t>(order[k])];
    result[k] = smallest.emplace(old, static_cast<Index>(k)).first->second;
  }
  return result;
}

std::vector<Index> random_order(Random& random, Index num) {
  std::vector<Index> order(static_cast<std::size_t>(num));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<Index>(i);
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[static_cast<std::size_t>(random.below(static_cast<Index>(i)))]);
  return order;
}

}  // namespace

TEST_CASE("clustered and uniform points of the benchmarks have the groups of brute force") {
  const points::Kind kind =
      GENERATE(points::Kind::uniform, points::Kind::clustered, points::Kind::dense);
  const double b = GENERATE(0.2, 0.7, 1.2);
  const PointSet<float> point_set = bench_points(kind, ZHALO_CHECKED ? 1500 : 6000, b);
  const Label label = fof_labels(point_set, {32, 2});
  CHECK(are_fof_groups(label, point_set));
  CHECK(label == brute_force_groups(point_set));
}

TEST_CASE("labels do not depend on leaf size, threads or layout") {
  const points::Kind kind =
      GENERATE(points::Kind::uniform, points::Kind::clustered, points::Kind::dense);
  const double b = GENERATE(0.2, 0.7);
  const PointSet<float> point_set = bench_points(kind, many, b);
  const Label label = fof_labels(point_set);
  CHECK(fof_labels(point_set, {32, 3}) == label);
  CHECK(fof_labels(point_set, {7, 2, Layout::columns}) == label);
  CHECK(fof_labels(point_set, {64, 2, Layout::segments}) == label);
  CHECK(fof_labels(point_set, {16, 1, Layout::mixed}) == label);
  CHECK(fof_labels(point_set, {2, 2, Layout::structs}) == label);
}

TEST_CASE("float positions have the labels of the same positions as double") {
  const PointSet<float> point_set = bench_points(points::Kind::clustered, many, GENERATE(0.2, 0.5));
  const PointSet<double> same{
      {point_set.pos.begin(), point_set.pos.end()}, point_set.box, point_set.linking_length};
  CHECK(fof_labels(point_set, {32, 2}) == fof_labels(same, {32, 2}));
}

TEST_CASE("labels do not depend on the order of the particles") {
  Random random(1);
  const PointSet<float> point_set = bench_points(points::Kind::clustered, many, 0.3);
  const std::vector<Index> order = random_order(random, point_set.num());
  PointSet<float> shuffled{{}, point_set.box, point_set.linking_length};
  for (const Index i : order) {
    for (int axis = 0; axis < 3; ++axis) shuffled.pos.push_back(point_set.at(i, axis));
  }
  CHECK(fof_labels(shuffled, {32, 2}) == permuted(fof_labels(point_set), order));
}

TEST_CASE("labels do not depend on the processor's vector instructions") {
  const PointSet<float> point_set = bench_points(points::Kind::clustered, 5000, 0.4);
  const PointSet<double> same{
      {point_set.pos.begin(), point_set.pos.end()}, point_set.box, point_set.linking_length};
  const Label expected = brute_force_groups(point_set);
  for_each_vector_target([&] {
    CHECK(fof_labels(point_set) == expected);
    CHECK(fof_labels(same) == expected);
  });
}

TEMPLATE_TEST_CASE("two very large clumps: apart, and joined by one pair", "", float, double) {
  Random random(2);
  const Index num = many / 2;
  PointSet<TestType> point_set{{}, Box::periodic_cube(1), 0.01};
  append_ball(point_set, random, {{0.5, 0.5, 0.5}}, 0.004, num);
  append_ball(point_set, random, {{0.5, 0.5185, 0.5}}, 0.004, num);  // 0.0105 between the balls
  CHECK(fof_labels(point_set, {32, 2}) == repeated(num, 0) + repeated(num, num));
  const TestType mid[] = {TestType(0.5), TestType(0.50925), TestType(0.5)};
  point_set.pos.insert(point_set.pos.end(), mid, mid + 3);
  CHECK(fof_labels(point_set, {32, 2}) == repeated(2 * num + 1, 0));
}

TEST_CASE("a clump across the corner of the box, and one near it") {
  Random random(3);
  const Index num = many / 2;
  PointSet<float> point_set{{}, Box::periodic_cube(1), 0.01};
  append_ball(point_set, random, {{0, 0, 0}}, 0.004, num);
  append_ball(point_set, random, {{0.5, 0.5, 0.9815}}, 0.004, num);
  append_ball(point_set, random, {{0.5, 0.5, 0}}, 0.004, num);
  CHECK(fof_labels(point_set, {32, 2}) ==
        repeated(num, 0) + repeated(num, num) + repeated(num, 2 * num));
}

TEST_CASE("everything in one group: by one clump, by density, and by a thin chain") {
  Random random(4);
  const Index num = 100'000;
  PointSet<float> clump{{}, Box::periodic_cube(1), 0.01};
  append_ball(clump, random, {{0.3, 0.3, 0.3}}, 0.0049, num);
  CHECK(fof_labels(clump, {32, 2}) == repeated(num, 0));

  const PointSet<float> dense = {points::make_points(points::Kind::uniform, num).pos,
                                 Box::periodic_cube(1), 0.1};
  CHECK(fof_labels(dense, {32, 2}) == repeated(num, 0));

  PointSet<double> chain{{}, Box::unbounded(), 1.0};
  for (Index i = 0; i < num; ++i)
    chain.pos.insert(chain.pos.end(), {static_cast<double>(i), 0.0, 0.0});
  CHECK(fof_labels(chain, {32, 2}) == repeated(num, 0));
  chain.pos[3 * 50'000 + 1] = 0.1;  // one link is a little too long
  CHECK(fof_labels(chain, {32, 2}) ==
        repeated(50'000, 0) + repeated(1, 50'000) + repeated(num - 50'001, 50'001));
}

TEST_CASE("a density contrast of a million") {
  Random random(5);
  const Index num = ZHALO_CHECKED ? 1000 : 4000;
  PointSet<float> point_set{{}, Box::periodic_cube(1), 0.02};
  for (Index i = 0; i < 3 * num / 4; ++i)
    point_set.pos.push_back(static_cast<float>(random.uniform()));
  append_ball(point_set, random, {{0.7, 0.2, 0.9}}, 0.01, num / 2);
  append_ball(point_set, random, {{0.2, 0.2, 0.2}}, 1e-5, num / 4);
  for (const double b : {0.02, 1e-3, 1e-6, 1e-7}) {
    point_set.linking_length = b;
    CAPTURE(b);
    CHECK(fof_labels(point_set, {32, 2}) == brute_force_groups(point_set));
  }
}

TEST_CASE("a context that is used again allocates nothing and has no higher peak") {
  struct Counted {
    static std::size_t& calls() {
      static std::size_t count = 0;
      return count;
    }
    static void* allocate(std::size_t bytes) {
      ++calls();
      return std::aligned_alloc(64, bytes);
    }
    static void deallocate(void* block) { std::free(block); }
    static std::size_t available() { return std::size_t{1} << 40; }
  };
  const PointSet<float> point_set = bench_points(points::Kind::clustered, many, 0.3);
  const LaidOut<float> laid_out(point_set, Layout::rows);
  Context context;
  context.exec =
      Host{2, std::make_shared<MemoryPool>(MemoryPool::Source{
                  Counted::allocate, Counted::deallocate, Counted::available, "counted"})};
  const auto run = [&] {
    const FofResult result = friends_of_friends(context, laid_out.particles(), point_set.box,
                                                {point_set.linking_length});
    return to_host(context.exec, result.label);
  };
  const Label label = run();
  const std::size_t peak = memory(context.exec)->peak_bytes();
  run();  // may still find the blocks of the first run cut awkwardly
  const std::size_t calls = Counted::calls();
  CHECK(calls > 0);
  CHECK(peak > 0);
  for (int again = 0; again < 3; ++again) CHECK(run() == label);
  CHECK(Counted::calls() == calls);
  CHECK(memory(context.exec)->peak_bytes() == peak);
  CHECK(memory(context.exec)->bytes_in_use() == 0);
}

TEST_CASE("phases are timed") {
  Timers timers;
  Context context;
  context.timers = &timers;
  const PointSet<float> point_set = bench_points(points::Kind::uniform, 10'000, 0.3);
  const LaidOut<float> laid_out(point_set, Layout::rows);
  friends_of_friends(context, laid_out.particles(), point_set.box, {point_set.linking_length});
  std::vector<std::string> names;
  for (const Phase& phase : timers.phases()) {
    names.push_back(phase.name);
    CHECK(phase.seconds >= 0);
  }
  CHECK(names == std::vector<std::string>{"bounds", "sort", "tree", "link", "labels"});
}
