/// A few particles far from all others, or a box that is nearly empty: the domain's cells lie
/// around most particles, and searches look at no more than they would without the few.
#include <catch2/catch.hpp>

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/support/host_context.hpp"
#include "tests/support/over_ranks.hpp"
#include "tests/support/point_sets.hpp"
#include "zhalo/domain/domain.hpp"
#include "zhalo/knn/knn.hpp"
#include "zhalo/knn/within.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;

constexpr Index num_usual = 17000;

/// So many particles in the unit cube, and some beyond it, in front of them and behind them.
template <class Real>
PointSet<Real> points_with_outliers(const Box& box, const std::vector<double>& outliers) {
  PointSet<Real> points{{}, box, 0.02};
  Random random(7);
  const auto add_outliers = [&] {
    for (const double x : outliers)
      points.pos.insert(points.pos.end(), static_cast<std::size_t>(box.dimensions),
                        static_cast<Real>(x));
  };
  add_outliers();
  for (Index i = 0; i < num_usual * box.dimensions; ++i)
    points.pos.push_back(static_cast<Real>(random.uniform()));
  add_outliers();
  return points;
}

/// The domain of some points, of which each rank brings a part, or one rank alone all.
template <class Real>
struct Made {
  Context context;
  Share part;
  std::vector<Real> rows;
  Domain<Real> domain;

  Made(Context&& ranks, const PointSet<Real>& points)
      : context(std::move(ranks)),
        part(part_of(points.num(), Cut::uneven, context.comm.rank(), context.comm.size())),
        rows(rows_of(points, part)),
        domain(context, particles(points.box.dimensions), points.box) {}

  Particles<Real> particles(int dimensions) const {
    Particles<Real> view;
    view.dimensions = dimensions;
    view.segments = {ParticleSegment<Real>::interleaved(rows.data(), part.count, dimensions)};
    return view;
  }
};

template <class Real>
void check_outliers(const PointSet<Real>& points) {
  const Made<Real> alone({Communicator(), host_exec(1)}, points);
  const Made<Real> made(host_context(), points);
  const Communicator& comm = made.context.comm;

  const std::vector<Index> order = to_host(alone.context.exec, alone.domain.global_index());
  const Span<const Index> own = made.domain.global_index();
  CHECK(std::equal(own.begin(), own.end(), order.begin() + made.domain.first()));

  const KnnOptions nearest{.k = 8};
  const KnnResult<Real> expected = knn(alone.domain, nearest);
  const KnnResult<Real> found = knn(made.domain, nearest);
  const std::vector<Index> all_rows = to_host(alone.context.exec, expected.index);
  const std::vector<Index> rows = to_host(made.context.exec, found.index);
  CHECK(std::equal(rows.begin(), rows.end(), all_rows.begin() + made.domain.first() * nearest.k));
  // In the cells of all, most particles would be in one: each would be held against each.
  const Index num_pairs = comm.sum(found.statistics.pairs_tested);
  CHECK(num_pairs < 1000 * points.num());

  const FofOptions linking{.linking_length = points.linking_length};
  const FofResult groups = friends_of_friends(made.domain, linking);
  const std::vector<Index> labels =
      to_host(made.context.exec, made.domain.to_caller_order(groups.label.span()));
  const std::vector<Index> all_labels = labels_of_one_rank(points);
  CHECK(std::equal(labels.begin(), labels.end(), all_labels.begin() + made.part.first));
}

}  // namespace

TEMPLATE_TEST_CASE("domain: particles far from all others", "", float, double) {
  for (const int dimensions : {2, 3}) {
    Box box = Box::unbounded();
    box.dimensions = dimensions;
    check_outliers(points_with_outliers<TestType>(box, {-3e8, 1e9, 1e9, 2e9}));
  }
}

TEST_CASE("domain: all particles in a corner of the box") {
  check_outliers(points_with_outliers<float>(Box::periodic_cube(1e7), {5e6, 9e6}));
}

TEST_CASE("domain: most particles at one position, and some far from it") {
  PointSet<float> points = points_with_outliers<float>(Box::unbounded(), {1e9});
  for (float& x : points.pos) x = x < 1 ? 0.5F : x;
  points.linking_length = 0;
  const Made<float> made(host_context(), points);
  const Buffer<Index> counts = count_within(made.domain, {.radius = 0.25});
  Index num_of_usual = 0, num_of_others = 0;
  for (const Index count : to_host(made.context.exec, counts)) {
    if (count == num_usual) ++num_of_usual;
    if (count == 2) ++num_of_others;
  }
  CHECK(made.context.comm.sum(num_of_usual) == num_usual);
  CHECK(made.context.comm.sum(num_of_others) == 2);
}

TEST_CASE("domain: a species that fills the box, and one in a corner of it") {
  const PointSet<float> corner = points_with_outliers<float>(Box::periodic_cube(1e7), {});
  PointSet<float> others{{}, corner.box, 1e5};
  Random random(8);
  fill(others, random, Shape::uniform, 17000);
  const Context context = host_context();
  const Share part = part_of(others.num(), Cut::even, context.comm.rank(), context.comm.size());
  const std::vector<float> rows = rows_of(others, part);
  const Made<float> in_corner(host_context(), corner);
  Particles<float> view;
  view.segments = {ParticleSegment<float>::interleaved(rows.data(), part.count, 3)};
  const std::vector<Particles<float>> species{in_corner.particles(3), view};
  const Domain<float> domain(context, species, corner.box);
  const KnnStatistics statistics =
      knn(domain, {.k = 8}, {}, {.queries = 1, .targets = 1}).statistics;
  CHECK(context.comm.sum(statistics.pairs_tested) < 1000 * others.num());
}
