/// Reductions and searches within a radius over ranks: the same as the functor's text on the full
/// lists, wherever neighbours are.
#include "zhalo/knn/reduce.hpp"

#include "tests/mpi/knn/knn_case.hpp"
#include "tests/support/reductions.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;

template <class Real>
PointSet<Real> points_of(Shape shape, Index num) {
  PointSet<Real> points;
  points.box = Box::periodic_cube(1);
  points.linking_length = 0.125;
  Random random(5);
  fill(points, random, shape, num);
  return points;
}

/// Reduces with this rank's part, and compares with brute force.
template <class Real>
void check_reduction(const Context& context, const KnnCase<Real>& c) {
  const Part<Real> part(context, c.points, c.cut);
  const std::vector<double> weight = weights(c.points.num());
  const ParticleColumn<double> column("weight", weight.data() + part.share.first, part.share.count);
  const BruteNeighbours<Real> brute(c.points);
  const auto found = to_host(context.exec, knn_reduce(context, part.particles(), c.points.box,
                                                      c.options, reduction(Digest{}, column)));
  REQUIRE(found.size() == static_cast<std::size_t>(part.share.count));
  for (Index i = 0; i < part.share.count; ++i)
    CHECK(found[static_cast<std::size_t>(i)] ==
          digest_of(brute.of_particle(part.share.first + i, c.wanted()), weight));
}

/// The lists of all within a radius, chunk by chunk, as (row's query, digest) at the index of the
/// query.
template <class Real>
void check_within(const Context& context, const KnnCase<Real>& c, double radius) {
  const Part<Real> part(context, c.points, c.cut);
  const Part<Real> asked(context, c.searched(), c.queries_cut);
  const Particles<Real> particles = part.particles();
  const Particles<Real> queries = asked.particles();
  const bool has_queries = !c.queries.empty();
  const std::vector<double> weight = weights(c.points.num());
  NeighbourSearch search(
      c.options,
      {column_view(Span<const double>(weight).subspan(part.share.first, part.share.count))});
  search.k = search.min_k = 0;
  search.max_radius = radius;
  const Share share = has_queries ? asked.share : part.share;
  KnnTargets<Real> searched(particles);
  if (has_queries) searched.queries = &queries;
  NeighbourLists<Real> lists(context, searched, c.points.box, search);
  const std::vector<DigestOfList> found = digests_of_chunks(context, lists);
  REQUIRE(found.size() == static_cast<std::size_t>(share.count));
  const BruteNeighbours<Real> brute(c.points);
  const Wanted wanted{0, c.options.include_self, radius};
  for (Index i = 0; i < share.count; ++i) {
    const auto list = has_queries ? brute.of(c.queries.front(), share.first + i, wanted)
                                  : brute.of_particle(share.first + i, wanted);
    CHECK(found[static_cast<std::size_t>(i)] == digest_of(list, weight));
  }
}

}  // namespace

TEMPLATE_TEST_CASE("knn: reductions over ranks see the neighbours of brute force", "", float,
                   double) {
  const Context context = make_context();
  for (const Cut cut : cuts(context)) {
    KnnCase<TestType> c{points_of<TestType>(Shape::blobs, 250), cut};
    c.options = {.k = 33, .chunk_bytes = 5000};
    check_reduction(context, c);
    c.options = {.k = 5, .include_self = false, .max_radius = 0.02};
    check_reduction(context, c);
  }
}

TEST_CASE("knn: columns of a domain may have gaps, or lie backwards") {
  struct Element {
    char before[3];
    double weight;
  };
  const Context context = make_context();
  const PointSet<float> points = points_of<float>(Shape::blobs, 250);
  const KnnOptions options{.k = 5};
  const Part<float> part(context, points, Cut::uneven);
  const Domain<float> domain(context, part.particles(), points.box);
  const std::vector<double> weight = weights(points.num());
  const Index num = domain.num();
  std::vector<Element> forward(static_cast<std::size_t>(num) + 1), backward = forward;
  std::vector<double> dense(forward.size());
  const std::vector<Index> index = to_host(context.exec, domain.global_index());
  for (std::size_t i = 0; i < index.size(); ++i) {
    dense[i] = weight[static_cast<std::size_t>(index[i])];
    forward[i].weight = backward[index.size() - 1 - i].weight = dense[i];
  }
  constexpr Index size = sizeof(Element);
  const double* const last =
      &backward[static_cast<std::size_t>(std::max<Index>(num, 1) - 1)].weight;
  const auto reduced = [&](const double* first, Index stride) {
    const ParticleColumn<double> column("weight", first, num, stride);
    return to_host(context.exec, knn_reduce(domain, options, reduction(Digest{}, column)));
  };
  const auto carried = [&](const double* first, Index stride) {
    const KnnOutput output{.columns = {{first, num, sizeof(double), stride}}};
    const KnnResult<float> found = knn(domain, options, output);
    return to_host(context.exec, found.column<double>(0));
  };
  CHECK(reduced(&forward[0].weight, size) == reduced(dense.data(), sizeof(double)));
  CHECK(reduced(last, -size) == reduced(dense.data(), sizeof(double)));
  CHECK(carried(&forward[0].weight, size) == carried(dense.data(), 0));
  CHECK(carried(last, -size) == carried(dense.data(), 0));
}

TEMPLATE_TEST_CASE("knn: all neighbours within a radius, over ranks", "", float, double) {
  const Context context = make_context();
  Random random(4);
  for (const Cut cut : cuts(context)) {
    for (const Shape shape : {Shape::uniform, Shape::lattice, Shape::few_positions}) {
      KnnCase<TestType> c{points_of<TestType>(shape, 200), cut};
      c.options.include_self = random.one_in(2);
      c.options.chunk_bytes = random.pick({Index{0}, Index{3000}, Index{8000}});
      check_within(context, c, 0.125);
      c.queries.push_back(random_queries(c.points, random, 90));
      c.queries_cut = Cut::last_only;
      check_within(context, c, 0.25);
    }
  }
  KnnCase<TestType> none{points_of<TestType>(Shape::uniform, 0)};
  check_within(context, none, 0.5);
}
