/// Calls that ran out of memory and are made again: what they left behind is not taken as done.
#include <catch2/catch.hpp>

#include <atomic>
#include <cstdlib>
#include <limits>

#include "tests/support/point_sets.hpp"
#include "tests/support/run_knn.hpp"
#include "tests/support/same_on_ranks.hpp"
#include "tests/unit/knn/knn_check.hpp"
#include "zhalo/comm/threads.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/knn/reduce.hpp"

namespace zhalo::testing {
namespace {

constexpr int never = std::numeric_limits<int>::max();
thread_local int allocations_left = never;  // until they fail

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
    const float* const first = domain.position(0).data();
    for (int axis = 0; axis < 3; ++axis) {
      const Span<const float> found = domain.position(axis), expected = whole.position(axis);
      CHECK(std::equal(found.begin(), found.end(), expected.begin(), expected.end()));
    }
    CHECK(domain.position(0).data() == first);  // it stays where it is
  }
  CHECK(number > 3);
}

namespace {

/// Of each particle of this rank the index of its 8th nearest, by lists. One call of next() fails:
/// for allocation `number` / 3 of this rank and those after it, in chunk `number` % 3, as later
/// chunks use what the first has made. It is then made again.
std::vector<Index> by_lists(const Context& context, const Particles<float>& particles,
                            const Box& box, int number, bool& any_failed) {
  const KnnOptions options{.k = 8, .chunk_bytes = 1 << 15};
  NeighbourLists<float> lists(context, particles, box, {options, {}});
  std::vector<Index> nearest(static_cast<std::size_t>(particles.num()), -1);
  bool is_there = true;
  for (int chunk = 0; is_there; ++chunk) {
    if (fails(number % 3 == chunk ? number / 3 : never, [&] { is_there = lists.next(); })) {
      any_failed = true;
      is_there = lists.next();
    }
    if (!is_there) break;
    const NeighbourRows<float>& rows = lists.rows();
    std::vector<Index> values;
    for (Index row = 0; row < rows.num; ++row)
      values.push_back(rows.global_index[rows.local_index[row * 8 + 7]]);
    lists.put(values.data(), sizeof(Index), nearest.data());
  }
  return nearest;
}

}  // namespace

TEST_CASE("lists of neighbours after a chunk that ran out of memory, on one rank or several") {
  const Index num = 3000;
  const PointSet<float> points = points_in<float>(cube(0, 1, true), Shape::uniform, num, 62);
  const auto index = to_host(
      host_exec(1), knn(context_of(1), particles_of(points), points.box, KnnOptions{.k = 8}).index);
  for (const int num_ranks : {1, 2}) {
    INFO("ranks " << num_ranks);
    std::atomic<int> num_failed = 0;
    run_on_threads(num_ranks, [&](Context& context) {
      const int rank = context.comm.rank();
      // The last rank's memory fails; all ranks are told.
      if (rank == num_ranks - 1) context.exec = context_that_may_fail().exec;
      const Share own = share_of(num, rank, num_ranks);
      Particles<float> particles;
      particles.segments = {
          ParticleSegment<float>::interleaved(points.pos.data() + 3 * own.first, own.count, 3)};
      for (int number = 0; number < 150; ++number) {
        bool any_failed = false;
        const int here = rank == num_ranks - 1 ? number : never;
        const auto nearest = by_lists(context, particles, points.box, here, any_failed);
        for (Index i = 0; i < own.count; ++i)
          need(nearest[static_cast<std::size_t>(i)] ==
                   index[static_cast<std::size_t>((own.first + i) * 8 + 7)],
               "the neighbours of every particle");
        if (any_failed && rank == 0) ++num_failed;
      }
    });
    CHECK(num_failed > 3);
  }
}

}  // namespace zhalo::testing
