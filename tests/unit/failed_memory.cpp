/// Calls that ran out of memory and are made again: what they left behind is not taken as done.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <limits>

#include "tests/support/point_sets.hpp"
#include "tests/support/run_knn.hpp"
#include "tests/unit/knn/knn_check.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/knn/reduce.hpp"

namespace zhalo::testing {
namespace {

constexpr int never = std::numeric_limits<int>::max();
int allocations_left = never;  // until they fail

void* allocate(std::size_t bytes) {
  if (allocations_left == 0) return nullptr;
  if (allocations_left != never) --allocations_left;
  return std::aligned_alloc(64, (bytes + 63) / 64 * 64);
}

/// Every request is one of the source's.
Context context_that_may_fail() {
  MemoryPool::Source source;
  source.allocate = allocate;
  source.deallocate = std::free;
  source.available = [] { return std::numeric_limits<std::size_t>::max(); };
  source.separate = true;
  Context context;
  context.exec = Host{1, std::make_shared<MemoryPool>(source)};
  return context;
}

/// Lets the call's allocations from `number` on fail. Returns whether the call failed.
template <class Call>
bool fails(int number, const Call& call) {
  allocations_left = number;
  try {
    call();
  } catch (const OutOfMemory&) {
    allocations_left = never;
    return true;
  }
  allocations_left = never;
  return false;
}

}  // namespace

TEST_CASE("positions of a domain after a call that ran out of memory") {
  const PointSet<float> points = points_in<float>(cube(0, 10, true), Shape::uniform, 1000, 61);
  const Context context = context_that_may_fail();
  const Domain<float> whole(context, particles_of(points), points.box);
  int number = 0;
  for (bool failed = true; failed; ++number) {
    REQUIRE(number < 20);
    INFO("allocation " << number);
    const Domain<float> domain(context, particles_of(points), points.box);
    failed = fails(number, [&] { domain.position(1); });
    for (int axis = 0; axis < 3; ++axis) {
      const Span<const float> found = domain.position(axis), expected = whole.position(axis);
      CHECK(std::equal(found.begin(), found.end(), expected.begin(), expected.end()));
    }
    // Their memory stays where it is.
    CHECK(domain.particles().segments[0].pos[0][0] == domain.position(0)[0]);
  }
  CHECK(number > 3);
}

TEST_CASE("lists of neighbours after a chunk that ran out of memory") {
  const PointSet<float> points = points_in<float>(cube(0, 1, true), Shape::uniform, 3000, 62);
  const Particles<float> particles = particles_of(points);
  const Context context = context_that_may_fail();
  const KnnOptions options{.k = 8, .chunk_bytes = 1 << 16};
  const auto index = to_host(context.exec, knn(context, particles, points.box, options).index);
  int num_failed = 0, number = 0;
  for (bool failed = true; failed; ++number) {
    REQUIRE(number < 200);
    INFO("allocation " << number);
    NeighbourLists<float> lists(context, particles, points.box, {options, {}});
    std::vector<Index> nearest(points.pos.size() / 3, -1);
    bool any_failed = false, any_left = true;
    for (int chunk = 0; any_left; ++chunk) {
      // The second and the third chunk, too: they use what the first has made.
      const int which = number % 3 == chunk ? number / 3 : never;
      if (fails(which, [&] { any_left = lists.next(); })) {
        any_failed = true;
        any_left = lists.next();
      }
      if (!any_left) break;
      const NeighbourRows<float>& rows = lists.rows();
      std::vector<Index> values;
      for (Index row = 0; row < rows.num; ++row)
        values.push_back(rows.global_index[rows.local_index[row * 8 + 7]]);
      lists.put(values.data(), sizeof(Index), nearest.data());
    }
    bool same = true;
    for (std::size_t i = 0; i < nearest.size(); ++i) same = same && nearest[i] == index[i * 8 + 7];
    CHECK(same);
    num_failed += any_failed ? 1 : 0;
    failed = any_failed || number < 30;
  }
  CHECK(num_failed > 3);
}

}  // namespace zhalo::testing
