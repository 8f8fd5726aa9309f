// Reductions see exactly the lists of brute force, in their order, with the columns of the
// neighbours.
#include "zhalo/knn/reduce.hpp"

#include "tests/support/reductions.hpp"
#include "tests/unit/knn/knn_check.hpp"

namespace zhalo::testing {
namespace {

/// Two columns of different types, the query's own elements, and its index.
struct Flux {
  struct Result {
    double sum = 0;
    Index query = 0;
    std::int8_t own = 0;

    friend bool operator==(const Result& a, const Result& b) {
      return a.sum == b.sum && a.query == b.query && a.own == b.own;
    }
  };

  double factor = 1;  // a value that travels with the functor

  ZHALO_HD Result operator()(const Neighbours<double>& near, const NeighbourColumn<Vec3d>& velocity,
                             const NeighbourColumn<std::int8_t>& kind) const {
    Result result{0, near.query_index, kind.of_query()};
    for (Index i = 0; i < near.size(); ++i) {
      if (kind[i] == kind.of_query())
        result.sum += factor * (velocity[i][0] - velocity.of_query()[0]) * near.distance(i);
    }
    return result;
  }
};

/// All rows of brute force within a radius, digested.
template <class Real>
std::vector<DigestOfList> digests(const NeighbourTable<Real>& table,
                                  const std::vector<double>& weight) {
  std::vector<DigestOfList> all;
  for (const auto& row : table) all.push_back(digest_of(row, weight));
  return all;
}

/// The lists of a search, digested as they come.
template <class Real>
std::vector<DigestOfList> digests_of_lists(const Context& context, const PointSet<Real>& points,
                                           const PointSet<Real>* queries,
                                           const NeighbourSearch& search) {
  const Particles<Real> particles = particles_of(points);
  const Particles<Real> asked = particles_of(queries != nullptr ? *queries : points);
  KnnTargets<Real> searched(particles);
  if (queries != nullptr) searched.queries = &asked;
  NeighbourLists<Real> lists(context, searched, points.box, search);
  return digests_of_chunks(context, lists);
}

}  // namespace

TEMPLATE_TEST_CASE("a reduction equals the same function of the full lists", "[knn]", float,
                   double) {
  const Context context = context_of(3);
  for (const Shape shape : {Shape::uniform, Shape::blobs, Shape::lattice, Shape::few_positions}) {
    const PointSet<TestType> points = points_in<TestType>(cube(0, 1, true), shape, 250, 51);
    Random random(52);
    const PointSet<TestType> queries = random_queries(points, random, 150);
    const std::vector<double> weight = weights(points.num());
    const ParticleColumn<double> column("weight", Span<const double>(weight));
    for (const int k : {1, 8, 50}) {
      const KnnOptions options{.k = k,
                               .include_self = k == 8,
                               .max_radius = k == 8 ? 0.125 : INFINITY,
                               .chunk_bytes = 6000};
      const auto found = knn_reduce(context, particles_of(points), points.box, options,
                                    reduction(Digest{}, column));
      CHECK(to_host(context.exec, found) ==
            digests(brute_table(points, wanted_of(options)), weight));
      const auto of_queries =
          knn_reduce(context, Queries{particles_of(queries), particles_of(points)}, points.box,
                     options, reduction(Digest{}, column));
      CHECK(to_host(context.exec, of_queries) ==
            digests(brute_table(points, queries, wanted_of(options)), weight));
    }
  }
}

TEST_CASE("a reduction with two columns sees those of the query, too", "[knn]") {
  const Context context = context_of(2);
  const PointSet<double> points = points_in<double>(cube(0, 1, true), Shape::uniform, 300, 53);
  struct Body {
    Vec3d velocity;
    std::int8_t kind;
  };
  std::vector<Body> bodies;
  Random random(54);
  for (Index i = 0; i < points.num(); ++i)
    bodies.push_back({{{random.uniform(), 0, 0}}, static_cast<std::int8_t>(random.below(3))});
  const ParticleColumn<Vec3d> velocity("velocity", &bodies[0].velocity, points.num(), sizeof(Body));
  const ParticleColumn<std::int8_t> kind("kind", &bodies[0].kind, points.num(), sizeof(Body));
  const KnnOptions options{.k = 12, .chunk_bytes = 3000};
  const auto found = knn_reduce(context, particles_of(points), points.box, options,
                                reduction(Flux{2.5}, velocity, kind));
  const auto table = brute_table(points, wanted_of(options));
  std::vector<Flux::Result> expected;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    expected.push_back({0, static_cast<Index>(i), bodies[i].kind});
    for (const auto& one : table[i]) {
      const Body& other = bodies[static_cast<std::size_t>(one.index)];
      if (other.kind == bodies[i].kind)
        expected.back().sum += 2.5 * (other.velocity[0] - bodies[i].velocity[0]) * one.distance;
    }
  }
  CHECK(to_host(context.exec, found) == expected);
}

TEMPLATE_TEST_CASE("lists of all within a radius are those of brute force, in chunks of any size",
                   "[knn]", float, double) {
  const Context context = context_of(3);
  for (const Shape shape : {Shape::uniform, Shape::blobs, Shape::lattice, Shape::few_positions}) {
    for (const bool periodic : {true, false}) {
      const PointSet<TestType> points =
          points_in<TestType>(cube(0, 1, periodic), shape, ZHALO_CHECKED ? 100 : 200, 55);
      Random random(56);
      const PointSet<TestType> queries = random_queries(points, random, 60);
      const std::vector<double> weight = weights(points.num());
      NeighbourSearch search;
      search.columns = {column_view(weight)};
      for (const double radius : {0.0, 0.0625, 0.25, 3.0}) {
        for (const Index chunk_bytes : {0, 1, 4000}) {
          search.max_radius = radius;
          search.include_self = radius < 0.1;
          search.chunk_bytes = chunk_bytes;
          INFO("radius " << radius << ", chunk_bytes " << chunk_bytes);
          const Wanted wanted{0, search.include_self, radius};
          CHECK(digests_of_lists<TestType>(context, points, nullptr, search) ==
                digests(brute_table(points, wanted), weight));
          CHECK(digests_of_lists(context, points, &queries, search) ==
                digests(brute_table(points, queries, wanted), weight));
        }
      }
    }
  }
}

}  // namespace zhalo::testing
