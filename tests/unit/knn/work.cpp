// How much is done and held: counted, not timed.
#include "tests/support/reductions.hpp"
#include "tests/unit/knn/knn_check.hpp"
#include "zhalo/knn/reduce.hpp"

namespace zhalo::testing {
namespace {

/// Pairs tested and leaves visited per query.
struct Work {
  double pairs;
  double leaves;
};

Work work_of(const PointSet<float>& points, const KnnOptions& options) {
  const KnnResult<float> found = knn(context_of(2), particles_of(points), points.box, options);
  const auto num = static_cast<double>(points.num());
  return {static_cast<double>(found.statistics.pairs_tested) / num,
          static_cast<double>(found.statistics.leaves_visited) / num};
}

PointSet<float> equal_particles(Index num_positions, Index num_each) {
  PointSet<float> once = points_in<float>(cube(0, 1, true), Shape::uniform, num_positions, 41);
  PointSet<float> points{{}, once.box, 0};
  for (Index i = 0; i < num_each; ++i)
    points.pos.insert(points.pos.end(), once.pos.begin(), once.pos.end());
  return points;
}

/// The most bytes in use at a time during a call, beyond those before it.
template <class Call>
Index peak_of(const Context& context, const Call& call) {
  const auto pool = memory(context.exec);
  pool->reset_peak();
  const std::size_t before = pool->bytes_in_use();
  call();
  return static_cast<Index>(pool->peak_bytes() - before);
}

}  // namespace

TEST_CASE("equal particles are not compared with each other all", "[knn]") {
  for (const int k : {1, 33}) {
    for (const bool include_self : {true, false}) {
      INFO("k " << k << ", include_self " << include_self);
      const KnnOptions options{.k = k, .include_self = include_self, .leaf_size = 8};
      for (const PointSet<float>& points : {equal_particles(1, 5000), equal_particles(100, 50)}) {
        const Work work = work_of(points, options);
        CHECK(work.leaves <= 60);  // of 625 or more
        CHECK(work.pairs <= 60 * 8);
        CHECK(work.pairs >= k);
      }
    }
  }
}

TEST_CASE("work per query does not grow with the number of particles", "[knn]") {
  for (const int k : {8, 64}) {
    const Work few =
        work_of(points_in<float>(cube(0, 1, true), Shape::uniform, 4000, 42), {.k = k});
    const Work many =
        work_of(points_in<float>(cube(0, 1, true), Shape::uniform, 16000, 42), {.k = k});
    CHECK(many.pairs < 1.5 * few.pairs);
    CHECK(many.leaves < 1.5 * few.leaves);
  }
}

TEST_CASE("a lattice, where every distance is shared by many, costs little more than random points",
          "[knn]") {
  PointSet<float> lattice{{}, cube(0, 1, true), 0};
  for (int i = 0; i < 16 * 16 * 16; ++i) {
    for (const int x : {i % 16, i / 16 % 16, i / 256})
      lattice.pos.push_back(static_cast<float>(x) / 16);
  }
  const Work tied = work_of(lattice, {.k = 8});
  const Work random =
      work_of(points_in<float>(lattice.box, Shape::uniform, lattice.num(), 43), {.k = 8});
  CHECK(tied.pairs < 3 * random.pairs);
}

TEST_CASE("points on a line or in a dense cluster cost little more than random points", "[knn]") {
  const Index num = 8000;
  const PointSet<float> random = points_in<float>(cube(0, 1, true), Shape::uniform, num, 47);
  PointSet<float> line = random;
  PointSet<float> cluster = random;  // half of the points in 1e-6 of the volume
  for (Index i = 0; i < num; ++i) {
    for (Index axis = 0; axis < 3; ++axis) {
      float& in_line = line.pos[static_cast<std::size_t>(3 * i + axis)];
      float& in_cluster = cluster.pos[static_cast<std::size_t>(3 * i + axis)];
      if (axis > 0) in_line = 0.25F;
      if (i % 2 == 0) in_cluster = 0.5F + in_cluster / 100;
    }
  }
  for (const int k : {8, 64}) {
    const Work usual = work_of(random, {.k = k});
    for (const PointSet<float>& points : {line, cluster}) {
      const Work work = work_of(points, {.k = k});
      CHECK(work.pairs < 2 * usual.pairs);
      CHECK(work.leaves < 2 * usual.leaves);
    }
  }
}

TEST_CASE("queries whose neighbours all lie across an edge look at few particles", "[knn]") {
  PointSet<float> targets = points_in<float>(cube(0, 1, true), Shape::uniform, 16000, 48);
  PointSet<float> queries = points_in<float>(targets.box, Shape::uniform, 1000, 49);
  // A thin thread along x, and queries that are nearest to it through two faces of the box.
  for (std::size_t i = 0; i < targets.pos.size(); ++i)
    if (i % 3 != 0) targets.pos[i] = 0.3F + targets.pos[i] / 1000;
  for (std::size_t i = 0; i < queries.pos.size(); ++i)
    queries.pos[i] = (i % 3 == 0 ? 0.1F : 0.9F) + queries.pos[i] / 100;
  for (const int k : {1, 8, 16, 50, 200}) {
    INFO("k " << k);
    check_queries(targets, queries, {.k = k});
    const auto found = knn(context_of(2), Queries{particles_of(queries), particles_of(targets)},
                           targets.box, {.k = k});
    CHECK(found.statistics.pairs_tested < queries.num() * (700 + 4 * Index{k}));  // of 16000 each
  }
}

TEST_CASE("the memory of a reduction does not grow with k", "[knn]") {
  const Context context = context_of(2);
  const PointSet<float> points = points_in<float>(cube(0, 1, true), Shape::uniform, 6000, 44);
  const std::vector<double> weight(6000, 1.0);
  const ParticleColumn<double> column("weight", Span<const double>(weight));
  const auto peak = [&](int k, Index chunk_bytes) {
    return peak_of(context, [&] {
      const KnnOptions options{.k = k, .chunk_bytes = chunk_bytes};
      knn_reduce(context, particles_of(points), points.box, options, reduction(Digest{}, column));
    });
  };
  const Index chunk_bytes = 1 << 18;
  const Index small = peak(4, chunk_bytes);
  // The lists of all queries would take 12 MB.
  const Index large = peak(256, chunk_bytes);
  CHECK(large < small + 2 * chunk_bytes);
  CHECK(large < 6000 * 256 * 8 / 4);
  // What grows with the number of particles: positions, keys, tree, column, result.
  CHECK(small < 6000 * 200 + 4 * chunk_bytes);
  CHECK(peak(256, 4 * chunk_bytes) < large + 4 * chunk_bytes);
}

TEST_CASE("statistics: chunks, counts, wrapped", "[knn]") {
  const Context context = context_of(1);
  PointSet<float> points = points_in<float>(cube(0, 1, true), Shape::uniform, 1000, 45);
  PointSet<float> queries = points_in<float>(points.box, Shape::uniform, 300, 46);
  points.pos[0] = 1.5F;
  queries.pos[7] = -0.25F;
  const auto whole =
      knn(context, Queries{particles_of(queries), particles_of(points)}, points.box, {.k = 8})
          .statistics;
  CHECK(whole.num_particles == 1000);
  CHECK(whole.num_queries == 300);
  CHECK(whole.num_wrapped == count_wrapped(points) + count_wrapped(queries));
  CHECK(whole.chunks == 1);
  CHECK(whole.fetched == 0);
  CHECK(whole.bytes_sent == 0);
  const auto cut = knn(context, Queries{particles_of(queries), particles_of(points)}, points.box,
                       {.k = 8, .chunk_bytes = 1})
                       .statistics;
  CHECK(cut.chunks >= 300 / 32);
  CHECK(cut.chunks <= 300);
  CHECK(cut.pairs_tested == whole.pairs_tested);
  CHECK(cut.leaves_visited == whole.leaves_visited);
}

}  // namespace zhalo::testing
