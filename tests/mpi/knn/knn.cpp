/// Neighbours over ranks: for every number of ranks and every way to spread particles and queries,
/// those of brute force, bit for bit.
#include "tests/mpi/knn/knn_case.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;

Cut any_cut(Random& random) {
  return random.pick({Cut::even, Cut::last_only, Cut::first_only, Cut::uneven, Cut::every_second});
}

template <class Real>
KnnCase<Real> random_case(std::uint64_t seed) {
  Random random(seed);
  KnnCase<Real> c{random_points<Real>(random)};
  c.options.k = random.pick({1, 2, 7, 8, 16, 32, 33, 64, 133, 400});
  c.options.include_self = random.one_in(2);
  if (random.one_in(3)) c.options.max_radius = c.points.linking_length;
  c.options.leaf_size = random.pick({1, 5, 32, 64});
  if (random.one_in(2)) c.options.chunk_bytes = random.pick({Index{5000}, Index{50000}});
  if (random.one_in(20)) c.options.chunk_bytes = 1;
  c.cut = any_cut(random);
  if (random.one_in(2))
    c.queries.push_back(
        random_queries(c.points, random, random.below(random.pick({Index{3}, Index{150}}))));
  c.queries_cut = any_cut(random);
  return c;
}

template <class Real>
PointSet<Real> unit_points(Index num, Shape shape, std::uint64_t seed,
                           const Box& box = Box::periodic_cube(1)) {
  PointSet<Real> points;
  points.box = box;
  points.linking_length = 0.05;
  Random random(seed);
  fill(points, random, shape, num);
  return points;
}

}  // namespace

TEMPLATE_TEST_CASE("knn: random point sets of every kind", "", float, double) {
  const Context context = make_context();
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const KnnCase<TestType> c = random_case<TestType>(seed);
    INFO("seed " << seed << ", " << c.points.num() << " particles, " << c.searched().num()
                 << " queries, k " << c.options.k);
    check_knn(context, c, seed % 3 == 0 ? RowOrder::domain : RowOrder::caller);
  }
}

TEST_CASE("knn: distances across an edge are rounded, and no rank is left out for that") {
  const float e = 0x1p-24F;
  KnnCase<float> c{
      {{1.49F * e, 0.1F, 0.1F, 3.69F * e, 0.1F, 0.1F, 1 - e, 0.1F, 0.1F, 0.9F, 0.9F, 0.9F},
       Box::periodic_cube(1),
       0.1}};
  c.options = {.k = 2, .leaf_size = 1};
  for (const Cut cut : cuts(make_context())) {
    c.cut = cut;
    check_knn(make_context(), c);
  }
}

TEST_CASE("knn: particles on other ranks whose squared distance is rounded to 0") {
  KnnCase<float> c{{{}, Box::unbounded(), 0.1}};
  const auto add = [&](int num, float x, float y) {
    for (int i = 0; i < num; ++i) c.points.pos.insert(c.points.pos.end(), {x, y, y});
  };
  add(250, 0x1p-127F, 0);
  add(220, 0, 0);
  add(30, 1000, 1000);
  for (const Cut cut : cuts(make_context())) {
    c.cut = cut;
    c.options = {.k = 20};
    check_knn(make_context(), c);
    c.options = {.k = 300, .max_radius = 1e-30};
    check_knn(make_context(), c);
  }
}

TEMPLATE_TEST_CASE("knn: larger point sets", "", float, double) {
  const Context context = make_context();
  Random random(3);
  KnnCase<TestType> c{unit_points<TestType>(1000, Shape::uniform, 1), Cut::even};
  c.options.k = 32;
  check_knn(context, c);
  c.options = {.k = 133, .include_self = false, .chunk_bytes = 100000};
  c.cut = Cut::uneven;
  check_knn(context, c, RowOrder::domain);
  c.points = unit_points<TestType>(1000, Shape::blobs, 2, Box::unbounded());
  c.options = {.k = 8};
  c.queries.push_back(random_queries(c.points, random, 300));
  check_knn(context, c);
  c.options = {.k = 64, .max_radius = 0.1};
  c.queries_cut = Cut::last_only;
  check_knn(context, c, RowOrder::domain);
  c = {unit_points<TestType>(500, Shape::uniform, 5), Cut::every_second};
  c.options = {.k = 1000};
  check_knn(context, c);
}

TEST_CASE("knn: lattices full of ties, and hundreds of equal particles") {
  const Context context = make_context();
  for (const Cut cut : cuts(context)) {
    KnnCase<float> c{unit_points<float>(300, Shape::lattice, 6), cut};
    c.options.k = 33;
    check_knn(context, c);
    c.points = unit_points<float>(300, Shape::few_positions, 7);
    check_knn(context, c);
    c.points.pos.assign(1200, 0.25F);
    c.options.k = 9;
    check_knn(context, c);
    c.options.include_self = false;
    check_knn(context, c);
  }
}

TEST_CASE("knn: next to no particles, and fewer than k on every rank") {
  const Context context = make_context();
  for (const Index num : {0, 1, 5, 17}) {
    for (const Cut cut : cuts(context)) {
      KnnCase<double> c{unit_points<double>(num, Shape::uniform, 8), cut};
      c.options = {.k = 3};
      check_knn(context, c);
      c.options = {.k = 20, .include_self = false};
      check_knn(context, c, RowOrder::domain);
      Random random(9);
      c.queries.push_back(random_queries(c.points, random, 11));
      c.queries_cut = Cut::last_only;
      check_knn(context, c);
      c.queries.front().pos.clear();
      check_knn(context, c);
    }
  }
}

TEST_CASE("knn: one particle on each rank, all of which are neighbours of each other") {
  const Context context = make_context();
  const Index num = context.comm.size();
  for (const Box& box : {Box::periodic_cube(1), Box::unbounded()}) {
    KnnCase<float> c{unit_points<float>(num, Shape::uniform, 13, box), Cut::even};
    c.options = {.k = std::max(static_cast<int>(num) - 1, 1), .include_self = false};
    check_knn(context, c);
    c.options = {.k = static_cast<int>(num)};
    check_knn(context, c);
  }
}

TEST_CASE("knn: queries and particles in corners far from each other") {
  const Context context = make_context();
  KnnCase<float> c{unit_points<float>(300, Shape::uniform, 10, Box::unbounded()), Cut::first_only};
  PointSet<float> queries = unit_points<float>(200, Shape::uniform, 11, Box::unbounded());
  for (float& x : queries.pos) x += 50;
  c.queries.push_back(queries);
  c.queries_cut = Cut::last_only;
  c.options.k = 12;
  check_knn(context, c);
  c.options.max_radius = 10;  // none is so near
  check_knn(context, c);
}

TEST_CASE("knn: a radius that excludes no one brings no more than none") {
  const Context context = make_context();
  // Most queries are below the border of two ranks, nearly all particles on a line above it.
  KnnCase<float> c{unit_points<float>(7, Shape::uniform, 14, Box::unbounded()), Cut::even};
  PointSet<float> queries = unit_points<float>(2000, Shape::uniform, 15, Box::unbounded());
  PointSet<float> above = unit_points<float>(1993, Shape::uniform, 16, Box::unbounded());
  for (std::size_t i = 0; i < above.pos.size(); ++i)
    above.pos[i] = 2 + (i % 3 == 0 ? 8 : 0.1F) * above.pos[i];
  c.points.pos.insert(c.points.pos.end(), above.pos.begin(), above.pos.end());
  c.queries.push_back(queries);
  c.options = {.k = 8};
  const KnnStatistics without = check_knn(context, c);
  CHECK((context.comm.size() != 2 || without.fetched < above.num() / 2));
  c.options.max_radius = 20;
  CHECK(check_knn(context, c).fetched == without.fetched);
  c.options.max_radius = 2;
  CHECK(check_knn(context, c).fetched <= without.fetched);
}

TEST_CASE("knn: most particles stay where they are") {
  const Context context = make_context();
  KnnCase<float> c{unit_points<float>(20000, Shape::uniform, 12), Cut::even};
  const Part<float> part(context, c.points, c.cut);
  const KnnResult<float> found =
      knn(context, part.particles(), c.points.box, {.k = 8, .leaf_size = 8});
  const Index fetched = found.statistics.fetched;
  // What is within two leaves of a rank's surface is a third of what the others hold, or less.
  CHECK(fetched <= (c.points.num() - part.share.count) / 2);
  CHECK((context.comm.size() == 1 || fetched > 0));
}

TEST_CASE("knn: between the species of a domain, with ties, and their locations") {
  const Context context = make_context();
  Box plane = Box::periodic_cube(1);
  plane.dimensions = 2;
  for (const Box& box : {Box::periodic_cube(1), plane}) {
    for (const Shape shape : {Shape::lattice, Shape::blobs}) {
      KnnCase<float> c{unit_points<float>(200, shape, 21, box), Cut::uneven};
      c.queries.push_back(unit_points<float>(150, shape, 22, box));
      const Part<float> part(context, c.points, c.cut);
      const Part<float> queries(context, c.queries.front(), c.queries_cut);
      const std::vector<Particles<float>> species{part.particles(), queries.particles()};
      const Domain<float> domain(context, species, box);
      const Buffer<Luggage> luggage = domain.to_domain_order(part.luggage);
      for (const int k : {1, 7, 203}) {
        for (const bool include_self : {true, false}) {  // another species has no self
          c.options.k = k;
          c.options.include_self = include_self;
          const KnnResult<float> result = knn(
              domain, c.options,
              {.locations = true, .columns = {column_view(Span<const Luggage>(luggage.span()))}},
              {.queries = 1, .targets = 0});
          const std::vector<Index> query = to_host(context.exec, result.query);
          CHECK(context.comm.sum(static_cast<Index>(query.size())) == c.queries.front().num());
          CHECK(fault_in_rows(context, c, result, query) == "");
        }
      }
    }
  }
}

TEST_CASE("knn: locations of a search in a domain are the caller's") {
  const Context context = make_context();
  KnnCase<float> c{unit_points<float>(300, Shape::blobs, 23), Cut::uneven};
  c.options.k = 5;
  const Part<float> part(context, c.points, c.cut);
  const Domain<float> domain(context, part.particles(), c.points.box);
  const Buffer<Luggage> luggage = domain.to_domain_order(part.luggage);
  const KnnResult<float> result =
      knn(domain, c.options,
          {.locations = true, .columns = {column_view(Span<const Luggage>(luggage.span()))}});
  CHECK(fault_in_rows(context, c, result, to_host(context.exec, result.query)) == "");
}
