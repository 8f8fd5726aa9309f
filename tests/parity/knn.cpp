// Neighbours: equal on every Exec, bit for bit, to those of one thread on the host.
#include "tests/parity/backends.hpp"
#include "tests/support/run_knn.hpp"
#include "zhalo/knn/within.hpp"

namespace zhalo::testing {
namespace {

template <class Real>
PointSet<Real> points_of(Shape shape, Index num, std::uint64_t seed) {
  PointSet<Real> points{{}, Box::periodic_cube(1), 0.125};
  Random random(seed);
  fill(points, random, shape, num);
  return points;
}

template <class Real>
Particles<Real> view_of(const Buffer<Real>& rows) {
  Particles<Real> particles;
  particles.segments = {ParticleSegment<Real>::interleaved(rows.data(), rows.size() / 3, 3)};
  return particles;
}

/// What is found, on the host.
template <class Real>
struct Answer {
  NeighbourTable<Real> neighbours;
  NeighbourTable<Real> of_queries;
  std::vector<Index> within;
};

template <class Real>
Answer<Real> solve(const Exec& exec, const PointSet<Real>& points, const PointSet<Real>& queries,
                   const KnnOptions& options) {
  Context context;
  context.exec = exec;
  const Buffer<Real> rows = upload(exec, points.pos);
  const Buffer<Real> query_rows = upload(exec, queries.pos);
  const Particles<Real> particles = view_of(rows);
  const Particles<Real> asked = view_of(query_rows);
  return {table_of(exec, knn(context, particles, points.box, options)),
          table_of(exec, knn(context, Queries{asked, particles}, points.box, options)),
          to_host(exec, count_within(context, particles, points.box, {.radius = 0.0625}))};
}

template <class Backend, class Real>
void check_parity(const PointSet<Real>& points, const KnnOptions& options) {
  const auto exec = Backend::exec();
  if (!exec) return;
  Random random(9);
  const PointSet<Real> queries = random_queries(points, random, points.num() / 4);
  const Answer<Real> found = solve(*exec, points, queries, options);
  const Answer<Real> expected = solve(host_exec(1), points, queries, options);
  CHECK(difference(found.neighbours, expected.neighbours) == "");
  CHECK(difference(found.of_queries, expected.of_queries) == "");
  CHECK(found.within == expected.within);
}

}  // namespace

TEMPLATE_TEST_CASE("nearest neighbours", "[parity][small]", ON_EVERY_EXEC) {
  check_parity<TestType>(points_of<float>(Shape::uniform, 3000, 1), {.k = 8});
  check_parity<TestType>(points_of<double>(Shape::blobs, 2000, 2),
                         {.k = 33, .include_self = false, .chunk_bytes = 40000});
  check_parity<TestType>(points_of<float>(Shape::lattice, 2000, 3), {.k = 16, .max_radius = 0.25});
  check_parity<TestType>(points_of<float>(Shape::few_places, 400, 4), {.k = 100});
}

}  // namespace zhalo::testing
