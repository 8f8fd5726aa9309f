// What a rank knows of others, against all boxes one by one; and how much ranks fetch.
#include "src/knn/row_search.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <set>

#include "tests/support/random.hpp"
#include "tests/unit/knn/knn_check.hpp"
#include "zhalo/comm/threads.hpp"

namespace zhalo::testing {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

kernels::CoarseBox random_box(Random& random, double size) {
  kernels::CoarseBox box;
  for (int axis = 0; axis < 3; ++axis) {
    const double a = random.uniform();
    box.lo[axis] = a;
    box.hi[axis] = std::min(1.0, a + size * random.uniform());
  }
  return box;
}

/// Of each rank some boxes near each other; of some none.
std::vector<CoarseBoxes> random_ranks(Random& random, int num_ranks) {
  std::vector<CoarseBoxes> ranks(static_cast<std::size_t>(num_ranks));
  for (CoarseBoxes& rank : ranks) {
    rank.num = random.one_in(5) ? 0 : static_cast<int>(1 + random.below(6));
    const kernels::CoarseBox all = random_box(random, 0.2);
    for (std::size_t i = 0; i < static_cast<std::size_t>(rank.num); ++i) {
      rank.count[i] = 1 + random.below(20);
      for (int axis = 0; axis < 3; ++axis) {
        const double a = random.uniform(all.lo[axis], all.hi[axis]);
        const double b = random.uniform(all.lo[axis], all.hi[axis]);
        rank.box[i].lo[axis] = std::min(a, b);
        rank.box[i].hi[axis] = std::max(a, b);
      }
    }
  }
  return ranks;
}

/// The largest distance of two points in the boxes, squared: of their corners along each axis.
double furthest2(const kernels::CoarseBox& a, const kernels::CoarseBox& b, double period) {
  double sum = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const double most =
        std::max(std::abs(a.hi[axis] - b.lo[axis]), std::abs(b.hi[axis] - a.lo[axis]));
    sum += std::pow(std::min(most, period / 2), 2);
  }
  return sum;
}

/// Within which squared distance of all of `box` some ranks have `num` particles.
double distance2_of(const kernels::CoarseBox& box, const std::vector<CoarseBoxes>& ranks, Index num,
                    double period) {
  std::vector<std::pair<double, Index>> all;
  for (const CoarseBoxes& rank : ranks) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(rank.num); ++i)
      all.emplace_back(furthest2(box, rank.box[i], period), rank.count[i]);
  }
  std::sort(all.begin(), all.end());
  for (const auto& [distance2, count] : all) {
    num -= count;
    if (num <= 0) return distance2;
  }
  return infinity;
}

}  // namespace

TEST_CASE("other ranks: those near a box, and the one with enough particles nearest", "[knn]") {
  Random random(7);
  for (const int num_ranks : {1, 2, 63, 130, 300}) {
    for (const double period : {1.0, infinity}) {
      const std::vector<CoarseBoxes> ranks = random_ranks(random, num_ranks);
      const int own = static_cast<int>(random.below(num_ranks));
      const double periods[3] = {period, period, period};
      const OtherRanks others(ranks, own, periods);
      for (int turn = 0; turn < 50; ++turn) {
        const kernels::CoarseBox box = random_box(random, 0.1);
        const double reach2 = random.pick({0.0, 1e-4, 0.01, 0.1, infinity});
        const Index num = 1 + random.below(60);
        std::set<int> near;
        others.for_each_near(box, reach2, [&](int rank) { CHECK(near.insert(rank).second); });
        std::set<int> expected_near;
        double expected = infinity;
        for (int rank = 0; rank < num_ranks; ++rank) {
          const CoarseBoxes& boxes = ranks[static_cast<std::size_t>(rank)];
          if (rank == own) continue;
          for (const kernels::CoarseBox& other : boxes.span())
            if (kernels::gap2(box, other, periods) <= reach2) expected_near.insert(rank);
          expected = std::min(expected, distance2_of(box, {boxes}, num, period));
        }
        CHECK(near == expected_near);
        const OtherRanks::Bound nearest = others.nearest_with(box, num);
        CHECK((nearest.rank < 0) == (expected == infinity));
        if (nearest.rank >= 0) {
          CHECK(nearest.distance2 == Approx(expected));
          const CoarseBoxes& of_rank = ranks[static_cast<std::size_t>(nearest.rank)];
          CHECK(distance2_of(box, {of_rank}, num, period) == Approx(expected));
        }
        const double of_all = distance2_of(box, ranks, num, period);
        CHECK((others.reach_of(box, num) == of_all || others.reach_of(box, num) == Approx(of_all)));
      }
    }
  }
}

namespace {

/// Searches on so many ranks, holds the neighbours against those of one rank, and returns how many
/// particles a rank fetched at most.
Index max_fetched(const PointSet<float>& points, int num_ranks, const KnnOptions& options) {
  const KnnResult<float> expected = knn(context_of(1), particles_of(points), points.box, options);
  std::mutex mutex;
  Index most = 0;
  run_on_threads(num_ranks, [&](Context& context) {
    const Share part = share_of(points.num(), context.comm.rank(), context.comm.size());
    PointSet<float> own{{}, points.box, 0};
    own.pos.assign(points.pos.begin() + 3 * part.first,
                   points.pos.begin() + 3 * (part.first + part.count));
    const KnnResult<float> found = knn(context, particles_of(own), own.box, options);
    const std::lock_guard lock(mutex);
    most = std::max(most, found.statistics.fetched);
    const Index first = options.k * part.first;
    CHECK(std::equal(found.index.data(), found.index.data() + options.k * part.count,
                     expected.index.data() + first));
  });
  return most;
}

}  // namespace

TEST_CASE("ranks fetch about as much as is near them", "[knn]") {
  const PointSet<float> points = points_in<float>(cube(0, 1, true), Shape::uniform, 32000, 47);
  for (const int num_ranks : {16, 32}) {
    const Index fetched = max_fetched(points, num_ranks, {.k = 4});
    CHECK(fetched > 0);
    CHECK(fetched < 5 * points.num() / num_ranks);
  }
}

/// Two clumps in opposite octants. The second rank has a few particles of the first clump, so their
/// nearest ones on this rank are in the other clump.
TEST_CASE("a few particles far from the others of their rank do not fetch all that is between",
          "[knn]") {
  const Index num = 20000;
  for (const Index few : {1, 3, 20}) {
    PointSet<float> points{{}, cube(0, 1, false), 0};
    Random random(9);
    for (Index i = 0; i < num; ++i) {
      const double corner = i < num / 2 + few ? 0.05 : 0.55;
      for (int axis = 0; axis < 3; ++axis)
        points.pos.push_back(static_cast<float>(corner + 0.4 * random.uniform()));
    }
    for (const int k : {1, 8, 40}) {
      INFO(few << " particles, k " << k);
      const Index fetched = max_fetched(points, 2, {.k = k});
      CHECK(fetched >= k - 1);  // a query is its own nearest neighbour
      CHECK(fetched < num / 8);
    }
  }
}

}  // namespace zhalo::testing
