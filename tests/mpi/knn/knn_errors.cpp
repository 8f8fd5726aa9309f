/// Neighbours over ranks: what fails on one rank fails alike on all, and all can go on.
#include <cmath>

#include "tests/mpi/comm/agreed_error.hpp"
#include "tests/mpi/comm/failing_context.hpp"
#include "tests/mpi/knn/knn_case.hpp"
#include "tests/support/reductions.hpp"
#include "zhalo/knn/reduce.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;
using Catch::Contains;
using Catch::StartsWith;

PointSet<float> small_points(Index num = 200) {
  PointSet<float> points;
  points.box = Box::periodic_cube(1);
  points.linking_length = 0.05;
  Random random(1);
  fill(points, random, Shape::uniform, num);
  return points;
}

/// The same search on all ranks but one, whose request is spoilt.
struct Spoilt {
  Context context = make_context({.timeout_seconds = 100});
  PointSet<float> points = small_points();
  Part<float> part{context, points, Cut::even};
  bool is_culprit = context.comm.rank() == context.comm.size() / 2;
  bool alone = context.comm.size() == 1;

  std::string message(const KnnOptions& options, const KnnOutput& output = {}) const {
    return input_error_of(context,
                          [&] { knn(context, part.particles(), points.box, options, output); });
  }
};

}  // namespace

TEST_CASE("knn: a bad option of one rank is an error on all") {
  const Spoilt s;
  const auto bad = [&](auto spoilt, auto fine) { return s.is_culprit ? spoilt : fine; };
  CHECK_THAT(s.message({.k = bad(0, 8)}), Contains("k is 0 (must be 1 to 4096)"));
  CHECK_THAT(s.message({.k = bad(-1, 8)}), Contains("k is -1 (must be 1 to 4096)"));
  CHECK_THAT(s.message({.k = bad(5000, 8)}), Contains("k is 5000 (must be 1 to 4096)"));
  CHECK_THAT(s.message({.max_radius = bad(-0.5, 1.0)}), Contains("radius is -0.5"));
  CHECK_THAT(s.message({.max_radius = bad(std::nan(""), 1.0)}), Contains("radius is nan"));
  CHECK_THAT(s.message({.leaf_size = bad(65, 32)}), Contains("leaf size is 65 (must be 1 to 64)"));
  CHECK_THAT(s.message({.chunk_bytes = bad(Index{-1}, Index{0})}), Contains("chunk_bytes is -1"));
  if (s.alone) return;
  const auto differs = [](const std::string& what) {
    return Contains(what + " is not the same on all ranks");
  };
  CHECK_THAT(s.message({.k = bad(7, 8)}), differs("k"));
  CHECK_THAT(s.message({.include_self = bad(false, true)}), differs("include_self"));
  CHECK_THAT(s.message({.max_radius = bad(0.5, 0.25)}), differs("radius") && Contains("0.25"));
}

TEST_CASE("knn: numbers that are no enumerators") {
  const Spoilt s;
  const auto none = Contains("which is no enumerator");
  const auto bad = [&](auto fine, int number) {
    return s.is_culprit ? static_cast<decltype(fine)>(number) : fine;
  };
  CHECK_THAT(s.message({}, {.order = bad(RowOrder::caller, 2)}), Contains("order of rows") && none);
  CHECK_THAT(s.message({}, {.order = bad(RowOrder::caller, -1)}), Contains("is number -1") && none);
  CHECK_THAT(s.message({}, {.quantities = {{bad(Quantity::density, 4)}}}),
             Contains("a quantity of neighbours is number 4") && none);
  const QuantityOptions kernel{Quantity::density, bad(SphKernel::cubic_spline, 3)};
  CHECK_THAT(s.message({}, {.quantities = {kernel}}), Contains("kernel of a density") && none);
  CHECK_THROWS_AS(needs_of(static_cast<Quantity>(4)), InputError);
}

TEST_CASE("knn: a column of one number for all particles is an error that names it") {
  const Spoilt s;
  const double number = 3;
  const ParticleColumn<double> column("charge", &number, s.part.particles().num(), 0);
  const auto call = [&] {
    knn_reduce(
        s.context, s.part.particles(), s.points.box, {.k = 3},
        reduction([](const Neighbours<float>&, const NeighbourColumn<double>& at) { return at[0]; },
                  column));
  };
  CHECK_THAT(input_error_of(s.context, call), Contains("charge has a stride of 0 bytes"));
}

TEST_CASE("knn: ranks that name different species of a domain") {
  const Spoilt s;
  const Domain<float> domain(s.context, {s.part.particles(), s.part.particles()}, s.points.box);
  const auto message = [&](const KnnSpecies& species) {
    return input_error_of(s.context, [&] { knn(domain, {}, {}, species); });
  };
  CHECK_THAT(message({.queries = 0, .targets = s.is_culprit ? 2 : 1}), Contains("no species 2"));
  if (s.alone) return;
  const int one = s.is_culprit ? 1 : 0;
  for (const KnnSpecies species : {KnnSpecies{one, 0}, KnnSpecies{1, one}})
    CHECK_THAT(message(species), Contains("queries or the targets are not the same on all ranks"));
  CHECK_THAT(message({one, 1 - one}), Contains("give all ranks the same"));
  CHECK(knn(domain, {}, {}, {1, 0}).num_rows == domain.num(1));
}

TEST_CASE("knn: what is wrapped is counted among the species of the search") {
  const Context context = make_context();
  const auto species = [&](float x, Index num) {
    return std::vector<float>(static_cast<std::size_t>(3 * num), x);
  };
  const std::vector<float> inside = species(0.5F, 1), two = species(1.25F, 2),
                           three = species(-0.25F, 3);
  const auto of = [](const std::vector<float>& pos) {
    return Particles<float>{
        .segments = {ParticleSegment<float>::interleaved(pos.data(), std::ssize(pos) / 3)}};
  };
  const Domain<float> domain(context, {of(inside), of(two), of(three)}, Box::periodic_cube(1));
  const auto wrapped = [&](const KnnSpecies& wanted) {
    return knn(domain, {.k = 1}, {}, wanted).statistics.num_wrapped / context.comm.size();
  };
  CHECK(domain.num_wrapped() == 5 * context.comm.size());
  CHECK(wrapped({0, 0}) == 0);
  CHECK(wrapped({0, 1}) == 2);
  CHECK(wrapped({2, 0}) == 3);
  CHECK(wrapped({2, 2}) == 3);
  CHECK(wrapped({1, 2}) == 5);
}

TEST_CASE("knn: ranks that want different results") {
  const Spoilt s;
  if (s.alone) return;
  CHECK_THAT(s.message({}, {.distances = !s.is_culprit}), Contains("do not want the same results"));
  CHECK_THAT(s.message({}, {.locations = s.is_culprit}), Contains("do not want the same results"));
  const RowOrder order = s.is_culprit ? RowOrder::domain : RowOrder::caller;
  CHECK_THAT(s.message({}, {.order = order}), Contains("do not want the same results"));
  KnnOutput output;
  if (s.is_culprit) output.columns = {s.part.column()};
  CHECK_THAT(s.message({}, output), Contains("do not give the same columns"));
  output.columns = {s.part.column()};
  if (s.is_culprit) output.columns.front().element_size = 8;
  CHECK_THAT(s.message({}, output), Contains("do not give the same columns"));
  output = {.quantities = {{Quantity::density, SphKernel::wendland_c2}}};
  if (s.is_culprit) output.quantities[0].kernel = SphKernel::cubic_spline;
  CHECK_THAT(s.message({}, output), Contains("do not want the same quantities"));
  if (s.is_culprit) output.quantities.clear();
  CHECK_THAT(s.message({}, output), Contains("do not want the same quantities"));
  const Part<float> queries(s.context, s.points, Cut::uneven);
  const std::string message = input_error_of(s.context, [&] {
    if (s.is_culprit) knn(s.context, s.part.particles(), s.points.box, KnnOptions{});
    if (!s.is_culprit)
      knn(s.context, Queries{queries.particles(), s.part.particles()}, s.points.box, KnnOptions{});
  });
  CHECK_THAT(message, Contains("not the same on all ranks"));
}

TEST_CASE("knn: positions that are no numbers, or outside, on one rank") {
  const Context context = make_context({.timeout_seconds = 100});
  PointSet<float> points = small_points(100);
  PointSet<float> spoilt = points;
  spoilt.pos[3 * 99 + 1] = NAN;
  const auto message = [&](const PointSet<float>& particles, const PointSet<float>& queries) {
    const Part<float> part(context, particles, Cut::even);
    const Part<float> asked(context, queries, Cut::uneven);
    return input_error_of(context, [&] {
      knn(context, Queries{asked.particles(), part.particles()}, particles.box, {.k = 3});
    });
  };
  CHECK_THAT(message(spoilt, points),
             StartsWith("1 of 100 particles have a position that is not finite"));
  CHECK_THAT(message(points, spoilt),
             StartsWith("1 of 100 queries have a position that is not finite"));
  points.box.periodic = {};
  spoilt = points;
  spoilt.pos[3 * 99 + 1] = 1.5F;
  CHECK_THAT(message(spoilt, points), Contains("1 of 100 particles"));
  CHECK(message(points, spoilt) == "nothing was thrown");
}

TEST_CASE("knn: a rank that fails at any collective ends all with its message, and all can go on") {
  FailingContext failing;
  const Context& context = failing.context();
  KnnCase<float> c{small_points(300), Cut::uneven, {small_points(100)}, Cut::even};
  c.options = {.k = 5, .chunk_bytes = 20000};
  const Part<float> part(context, c.points, c.cut);
  const Part<float> queries(context, c.searched(), c.queries_cut);
  const auto find = [&] {
    const KnnOutput output{.locations = true, .columns = {part.column()}};
    return to_host(context.exec, knn(context, Queries{queries.particles(), part.particles()},
                                     c.points.box, c.options, output)
                                     .index);
  };
  const std::vector<Index> expected = failing.counted(find);
  const int culprit = context.comm.size() / 2;
  const int num_calls = failing.num_made_by(culprit);
  REQUIRE(num_calls > 10);
  failing.check_failures(culprit, num_calls, 1 + num_calls / 40, find);
  CHECK(find() == expected);
}

TEST_CASE("knn: short messages and staged transport change nothing") {
  CommunicatorOptions options;
  options.chunk_bytes = 1000 * 4;
  SECTION("direct") {}
  SECTION("staged") { options.transport = Transport::staged; }
  const Context context = make_context(options);
  KnnCase<float> c{small_points(800), Cut::uneven};
  c.options = {.k = 20};
  check_knn(context, c);
}
