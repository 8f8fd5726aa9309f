// Neighbours: equal on every Exec, bit for bit, to those of one thread on the host.
#include <cmath>
#include <limits>

#include "kernels/particles.hpp"
#include "tests/parity/backends.hpp"
#include "tests/support/run_knn.hpp"
#include "zhalo/knn/reduce.hpp"
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

/// Lists of all within a radius, one behind the other, and how many chunks they came in.
template <class Real>
struct Lists {
  std::vector<Index> query;
  std::vector<Index> size;
  std::vector<Real> distance2;
  std::vector<LocalIndex> neighbour;
  Index num_chunks = 0;
};

enum class Waiting { for_each_chunk, at_the_end };

template <class Real>
Lists<Real> lists_within(const Exec& exec, const PointSet<Real>& points, Index chunk_bytes,
                         Waiting waiting) {
  Context context;
  context.exec = exec;
  const Buffer<Real> rows_of_points = upload(exec, points.pos);
  const Particles<Real> particles = view_of(rows_of_points);
  NeighbourSearch search;
  search.max_radius = 0.1;
  search.chunk_bytes = chunk_bytes;
  NeighbourLists<Real> lists(context, particles, points.box, search);
  const auto next = [&] {
    return waiting == Waiting::at_the_end ? lists.queue_next() : lists.next();
  };
  Lists<Real> all;
  const auto append = [&](auto& to, const auto* from, Index num) {
    const auto part = download(exec, from, num);
    to.insert(to.end(), part.begin(), part.end());
  };
  while (next()) {
    const NeighbourRows<Real>& rows = lists.rows();
    const std::vector<Index> offset = to_host(exec, rows.row_offset);
    REQUIRE(static_cast<Index>(offset.size()) == rows.num + 1);
    for (std::size_t row = 0; row + 1 < offset.size(); ++row)
      all.size.push_back(offset[row + 1] - offset[row]);
    append(all.query, rows.query_index, rows.num);
    append(all.distance2, rows.distance2, offset.back());
    append(all.neighbour, rows.local_index, offset.back());
  }
  all.num_chunks = lists.statistics().chunks;
  return all;
}

/// Some particles near a point, one of them there, and a sphere of others around them. Two of these
/// are just as far from the one in the middle, and are its nearest ones of the sphere.
template <class Real>
PointSet<Real> points_in_sphere(Index num_inside, Index num_around) {
  PointSet<Real> points{{}, Box::periodic_cube(1), 0.125};
  constexpr double middle = 0.296875;  // a number of float, as the distances below
  constexpr double radius = 0.09375;
  Random random(11);
  const auto add = [&](double x, double y, double z) {
    for (const double d : {x, y, z}) points.pos.push_back(static_cast<Real>(middle + d));
  };
  const auto near_by = [&] { return random.uniform(-1, 1) / 2048; };
  add(0, 0, 0);
  for (Index i = 1; i < num_inside; ++i) add(near_by(), near_by(), near_by());
  add(radius, 0, 0);
  add(-radius, 0, 0);
  while (points.num() < num_inside + num_around) {
    const double d[3] = {random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)};
    const double length = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    if (length > 1 || length < 0.1) continue;
    const double factor = radius * random.uniform(1.001, 1.005) / length;
    add(factor * d[0], factor * d[1], factor * d[2]);
  }
  return points;
}

}  // namespace

TEMPLATE_TEST_CASE("lists within a radius, in one chunk and in many", "[parity][small]",
                   ON_EVERY_EXEC) {
  const auto exec = TestType::exec();
  if (!exec) return;
  const PointSet<float> points = points_of<float>(Shape::blobs, 1500, 5);
  const auto whole = lists_within(host_exec(1), points, Index{1} << 30, Waiting::for_each_chunk);
  for (const Index chunk_bytes : {Index{1}, Index{20000}, Index{1} << 30}) {
    const auto found = lists_within(*exec, points, chunk_bytes, Waiting::at_the_end);
    INFO(chunk_bytes << " bytes, " << found.num_chunks << " chunks");
    CHECK(found.query == whole.query);
    CHECK(found.size == whole.size);
    CHECK(found.distance2 == whole.distance2);
    CHECK(found.neighbour == whole.neighbour);
    CHECK((chunk_bytes > 20000 || found.num_chunks > 3));
  }
}

TEMPLATE_TEST_CASE("counts of batches add up to more than a local index holds", "[parity][small]",
                   ON_EVERY_EXEC) {
  const auto exec = TestType::exec();
  if (!exec) return;
  const LocalIndex largest = std::numeric_limits<LocalIndex>::max();
  const Buffer<LocalIndex> batch = upload<LocalIndex>(*exec, {largest, 0, 1});
  Buffer<Index> total = upload<Index>(*exec, {0, 2, 5});
  for (int i = 0; i < 3; ++i)
    on(*exec, [&](const auto& e) { kernels::add_counts(e, batch.span(), total.span()); });
  CHECK(to_host(*exec, total) == std::vector<Index>{3 * Index{largest}, 2, 8});
}

TEMPLATE_TEST_CASE("nearest neighbours", "[parity][small]", ON_EVERY_EXEC) {
  check_parity<TestType>(points_of<float>(Shape::uniform, 3000, 1), {.k = 8});
  check_parity<TestType>(points_of<double>(Shape::blobs, 2000, 2),
                         {.k = 33, .include_self = false, .chunk_bytes = 40000});
  check_parity<TestType>(points_of<float>(Shape::lattice, 2000, 3), {.k = 16, .max_radius = 0.25});
  check_parity<TestType>(points_of<float>(Shape::few_positions, 400, 4), {.k = 100});
}

TEMPLATE_TEST_CASE("nearest neighbours, and one particle far from all", "[parity]", ON_EVERY_EXEC) {
  PointSet<float> points = points_of<float>(Shape::uniform, 17000, 12);
  points.box = Box::unbounded();
  points.pos.insert(points.pos.end(), {1e9F, -1e9F, 0});
  check_parity<TestType>(points, {.k = 8});
}

// Where devices select neighbours in place of keeping lists of them: lattices and few positions
// have many equal distances, at the end of a row too.
TEMPLATE_TEST_CASE("more neighbours than a thread has registers for", "[parity][small]",
                   ON_EVERY_EXEC) {
  check_parity<TestType>(points_of<float>(Shape::lattice, 2000, 5), {.k = 27});
  check_parity<TestType>(points_of<double>(Shape::lattice, 1000, 6),
                         {.k = 40, .include_self = false});
  check_parity<TestType>(points_of<float>(Shape::blobs, 2500, 7), {.k = 64, .leaf_size = 64});
  check_parity<TestType>(points_of<float>(Shape::uniform, 2000, 8), {.k = 128, .max_radius = 0.25});
  check_parity<TestType>(points_of<float>(Shape::uniform, 2000, 9), {.k = 129});
  check_parity<TestType>(points_of<double>(Shape::few_positions, 300, 10), {.k = 20});
  check_parity<TestType>(points_of<double>(Shape::uniform, 40, 11), {.k = 64});
}

// Of equal distances the smaller index counts, which only a second search tells. It meets more
// leaves than it looks at together, and leaves the rows alone that were right before.
TEMPLATE_TEST_CASE("a query with equal distances beside others without, amid hundreds of leaves",
                   "[parity]", ON_EVERY_EXEC) {
  const auto exec = TestType::exec();
  if (!exec) return;
  constexpr Index num_inside = 6;
  const PointSet<float> points = points_in_sphere<float>(num_inside, 12000);
  const BruteNeighbours<float> brute(points);
  for (const int k : {7, 12, 20, 50, 100}) {
    Context context;
    context.exec = *exec;
    const Buffer<float> rows = upload(*exec, points.pos);
    const auto found = table_of(*exec, knn(context, view_of(rows), points.box, KnnOptions{.k = k}));
    NeighbourTable<float> inside(found.begin(), found.begin() + num_inside);
    NeighbourTable<float> expected;
    for (Index i = 0; i < num_inside; ++i) expected.push_back(brute.of_particle(i, {.k = k}));
    INFO("k = " << k);
    CHECK(difference(inside, expected) == "");
  }
}

}  // namespace zhalo::testing
