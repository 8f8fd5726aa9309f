// Groups and catalogues: equal on every Exec, bit for bit, to those of one thread on the host.
#include <cmath>

#include "tests/parity/uploaded.hpp"
#include "tests/support/point_sets.hpp"
#include "tests/support/same_bits.hpp"
#include "zhalo/catalogue/catalogue.hpp"
#include "zhalo/fof/fof.hpp"
#include "zhalo/ics/points.hpp"

namespace zhalo::testing {
namespace {

template <class Real>
struct Problem {
  Columns<Real> columns;
  Box box;
  FofOptions options;
  CatalogueOptions catalogue;
};

/// What is found, on the host.
struct Answer {
  std::vector<Index> label;
  Catalogue table;
  std::vector<Index> members;
  std::vector<Index> group_of;
  std::vector<Index> labels_in_order;
};

template <class Real>
Answer solve(const Exec& exec, const Problem<Real>& problem) {
  Context context;
  context.exec = exec;
  const Uploaded<Real> uploaded(exec, problem.columns);
  const FofResult fof =
      friends_of_friends(context, uploaded.particles(), problem.box, problem.options);
  Answer answer;
  answer.label = to_host(exec, fof.label);
  answer.table = make_catalogue(context, uploaded.particles(), problem.box, fof.label.span(),
                                problem.catalogue);
  answer.members = to_host(exec, answer.table.members);
  answer.group_of = to_host(exec, answer.table.group_of);
  answer.labels_in_order = to_host(exec, in_group_order(context, answer.table, fof.label.span()));
  return answer;
}

void check_equal(const Answer& a, const Answer& b) {
  CHECK(a.label == b.label);
  CHECK(a.members == b.members);
  CHECK(a.group_of == b.group_of);
  CHECK(a.labels_in_order == b.labels_in_order);
  CHECK(a.table.num_groups_total == b.table.num_groups_total);
  CHECK(a.table.num_members_total == b.table.num_members_total);
  CHECK(a.table.length == b.table.length);
  CHECK(a.table.label == b.table.label);
  CHECK(a.table.offset == b.table.offset);
  CHECK(same_bits(a.table.properties, b.table.properties));
  CHECK(a.table.checksum == b.table.checksum);
  CHECK(a.table.length_by_type == b.table.length_by_type);
  CHECK(a.table.mass_by_type == b.table.mass_by_type);
}

template <class Backend, class Real>
void check_parity(const Problem<Real>& problem) {
  const auto exec = Backend::exec();
  if (!exec) return;
  check_equal(solve(*exec, problem), solve(host_exec(1), problem));
}

/// Velocities, masses and types that differ from particle to particle.
template <class Real>
void add_columns(Columns<Real>& columns, std::uint64_t seed) {
  Random random(seed);
  for (std::size_t i = 0; i < columns.pos.size(); ++i)
    columns.velocity.push_back(static_cast<Real>(random.uniform(-300, 300)));
  for (Index i = 0; i < columns.num(); ++i) {
    columns.mass.push_back(random.uniform(0.5, 2));
    columns.type.push_back(static_cast<std::uint8_t>(random.below(3)));
  }
}

template <class Real>
Problem<Real> points_problem(points::Kind kind, Index num, double b) {
  Problem<Real> problem;
  const points::Points points = points::make_points(kind, num, 5);
  problem.columns.pos.assign(points.pos.begin(), points.pos.end());
  add_columns(problem.columns, 6);
  problem.box = Box::periodic_cube(1);
  problem.options.linking_length = b / std::cbrt(static_cast<double>(num));
  problem.catalogue = {20, 3};
  return problem;
}

}  // namespace

TEMPLATE_TEST_CASE("groups of small point sets of every kind", "[parity][small]", ON_EVERY_EXEC) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    const PointSet<float> single = random_points<float>(random);
    const PointSet<double> point_set = random_points<double>(random);
    const int leaf_size = static_cast<int>(1 + random.below(64));
    check_parity<TestType>(Problem<float>{{single.box.dimensions, single.pos, {}, {}, {}},
                                          single.box,
                                          {single.linking_length, leaf_size},
                                          {2, 1}});
    check_parity<TestType>(Problem<double>{{point_set.box.dimensions, point_set.pos, {}, {}, {}},
                                           point_set.box,
                                           {point_set.linking_length, leaf_size},
                                           {1, 1}});
    if (!TestType::exec()) return;
  }
}

TEMPLATE_TEST_CASE("groups and catalogue of small haloes", "[parity][small]", ON_EVERY_EXEC) {
  check_parity<TestType>(points_problem<float>(points::Kind::clustered, 4000, 0.2));
  check_parity<TestType>(points_problem<double>(points::Kind::uniform, 4000, 0.7));
}

TEMPLATE_TEST_CASE("groups and catalogue of many particles", "[parity]", ON_EVERY_EXEC) {
  check_parity<TestType>(points_problem<float>(points::Kind::dense, 60000, 0.2));
  check_parity<TestType>(points_problem<float>(points::Kind::uniform, 60000, 1.1));
  check_parity<TestType>(points_problem<double>(points::Kind::clustered, 40000, 0.3));
}

TEMPLATE_TEST_CASE("bad input is the same error everywhere", "[parity][small]", ON_EVERY_EXEC) {
  const auto exec = TestType::exec();
  if (!exec) return;
  Problem<float> problem = points_problem<float>(points::Kind::uniform, 1000, 0.2);
  problem.columns.pos[3 * 700 + 1] = NAN;
  CHECK_THROWS_WITH(solve(*exec, problem), Catch::Contains("1 of 1000 particles") &&
                                               Catch::Contains("the first is particle 700"));
  problem.columns.pos[3 * 700 + 1] = 0.5F;
  problem.columns.mass[321] = -1;
  CHECK_THROWS_WITH(solve(*exec, problem), Catch::Contains("1 of 1000 particles") &&
                                               Catch::Contains("the first is particle 321"));
}

}  // namespace zhalo::testing
