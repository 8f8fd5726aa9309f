/// Several ranks on a CUDA device (or several), staged: the same results as one rank on the host.
/// Skipped visibly without a device.
#include <catch2/catch.hpp>

#include "tests/mpi/device/find_device.hpp"
#include "tests/support/over_ranks.hpp"
#include "tests/support/point_sets.hpp"
#include "tests/support/run_knn.hpp"
#include "tests/support/same_bits.hpp"
#include "zhalo/catalogue/catalogue.hpp"
#include "zhalo/domain/domain.hpp"
#include "zhalo/knn/knn.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;

template <class Real>
Particles<Real> view_of(const Buffer<Real>& rows, int dimensions) {
  Particles<Real> particles;
  particles.dimensions = dimensions;
  particles.segments.push_back(
      ParticleSegment<Real>::interleaved(rows.data(), rows.size() / dimensions, dimensions));
  return particles;
}

template <class Real>
PointSet<Real> points_of(Shape shape, Index num, double linking_length) {
  PointSet<Real> points;
  points.box = Box::periodic_cube(1);
  points.linking_length = linking_length;
  Random random(4);
  fill(points, random, shape, num);
  return points;
}

template <class Real>
void check_on_device(const Context& context, const PointSet<Real>& points,
                     const FofOptions& options) {
  const Share part = part_of(points.num(), Cut::uneven, context.comm.rank(), context.comm.size());
  const Buffer<Real> rows = upload(context.exec, rows_of(points, part));
  const Particles<Real> particles = view_of(rows, points.box.dimensions);
  const FofResult found = friends_of_friends(context, particles, points.box, options);
  CHECK(to_host(context.exec, found.label) == slice(labels_of_one_rank(points), part));

  const CatalogueOptions table{.min_members = 2};
  const Catalogue catalogue =
      make_catalogue(context, particles, points.box, found.label.span(), table);
  Context alone;
  alone.exec = host_exec(1);
  const Buffer<Real> all_rows = upload(alone.exec, points.pos);
  const Particles<Real> all_particles = view_of(all_rows, points.box.dimensions);
  const std::vector<Index> labels = labels_of_one_rank(points);
  const Catalogue expected =
      make_catalogue(alone, all_particles, points.box, Span<const Index>(labels), table);
  const Share rows_here =
      share_of(expected.num_groups_total, context.comm.rank(), context.comm.size());
  CHECK(catalogue.num_groups_total == expected.num_groups_total);
  CHECK(catalogue.length == slice(expected.length, rows_here));
  CHECK(catalogue.label == slice(expected.label, rows_here));
  CHECK(same_bits(catalogue.properties, slice(expected.properties, rows_here)));
  CHECK(catalogue.checksum == expected.checksum);
  CHECK(to_host(context.exec, catalogue.group_of) ==
        slice(to_host(alone.exec, expected.group_of), part));

  const Domain<Real> domain(context, particles, points.box);
  const FofResult in_domain = friends_of_friends(domain, options);
  CHECK(make_catalogue(domain, in_domain, table).checksum == expected.checksum);
}

}  // namespace

TEST_CASE("device: columns travel, in short messages too") {
  CommunicatorOptions options;
  SECTION("long") {}
  SECTION("short") { options.chunk_bytes = 1000; }
  Context context;
  if (!find_device(context, options)) return;
  const int size = context.comm.size();
  std::vector<Index> counts;
  std::vector<Index> values;
  for (int r = 0; r < size; ++r) {
    counts.push_back(100 * (r + context.comm.rank()));
    for (Index i = 0; i < counts.back(); ++i)
      values.push_back(1000000 * context.comm.rank() + 1000 * r + i);
  }
  const ExchangePlan plan = context.comm.plan_exchange(counts);
  const Buffer<Index> send = upload(context.exec, values);
  Buffer<Index> received(context.exec, plan.num_received(), "test");
  context.comm.exchange(context.exec, plan, send.span(), received.span());
  Buffer<Index> back(context.exec, plan.num_sent(), "test");
  context.comm.exchange(context.exec, plan.reversed(), Span<const Index>(received.span()),
                        back.span());
  CHECK(to_host(context.exec, back) == values);
  std::vector<Index> expected;
  for (int r = 0; r < size; ++r) {
    for (Index i = 0; i < 100 * (r + context.comm.rank()); ++i)
      expected.push_back(1000000 * r + 1000 * context.comm.rank() + i);
  }
  CHECK(to_host(context.exec, received) == expected);
}

TEST_CASE("device: groups and catalogue over ranks are those of one rank on the host") {
  Context context;
  if (!find_device(context)) return;
  check_on_device(context, points_of<float>(Shape::uniform, 20000, 0.02), {.linking_length = 0.02});
  check_on_device(context, points_of<double>(Shape::blobs, 20000, 0.01),
                  {.linking_length = 0.01, .ghost_batch = 100});
  check_on_device(context, points_of<float>(Shape::lattice, 5000, 0.1), {.linking_length = 0.1});
  check_on_device(context, points_of<float>(Shape::few_positions, 3000, 0.1),
                  {.linking_length = 0.1});
}

TEST_CASE("device: a domain over ranks, and the way back") {
  Context context;
  if (!find_device(context)) return;
  const PointSet<double> points = points_of<double>(Shape::blobs, 5000, 0.1);
  const Share part =
      part_of(points.num(), Cut::last_only, context.comm.rank(), context.comm.size());
  const Buffer<double> rows = upload(context.exec, rows_of(points, part));
  std::vector<Index> tags;
  for (Index i = 0; i < part.count; ++i) tags.push_back(7 * (part.first + i));
  const Buffer<Index> column = upload(context.exec, tags);
  const Domain<double> order(context, view_of(rows, 3), points.box);
  CHECK(order.num() == share_of(points.num(), context.comm.rank(), context.comm.size()).count);
  const Buffer<Index> in_order = order.to_domain_order(column);
  const auto brought = to_host(context.exec, in_order);
  const auto global = to_host(context.exec, order.global_index());
  bool right = true;
  for (std::size_t i = 0; i < global.size(); ++i) right = right && brought[i] == 7 * global[i];
  CHECK(right);
  const Buffer<Index> back = order.to_caller_order(in_order);
  CHECK(to_host(context.exec, back) == tags);
}

TEST_CASE("device: neighbours over ranks are those of brute force") {
  Context context;
  if (!find_device(context)) return;
  for (const Shape shape : {Shape::uniform, Shape::lattice}) {
    const PointSet<float> points = points_of<float>(shape, 1500, 0.1);
    const Share part = part_of(points.num(), Cut::uneven, context.comm.rank(), context.comm.size());
    const Buffer<float> rows = upload(context.exec, rows_of(points, part));
    const KnnOptions options{.k = 20, .include_self = false, .chunk_bytes = 50000};
    const auto found = table_of(context.exec, knn(context, view_of(rows, 3), points.box, options));
    const auto all = brute_table(points, {.k = 20, .include_self = false});
    CHECK(difference(found, NeighbourTable<float>(all.begin() + part.first,
                                                  all.begin() + part.first + part.count)) == "");
  }
}

TEST_CASE("device: quantities of neighbours over ranks are those of one rank on the host") {
  Context context;
  if (!find_device(context)) return;
  const PointSet<float> points = points_of<float>(Shape::blobs, 2000, 0.1);
  const Share part = part_of(points.num(), Cut::uneven, context.comm.rank(), context.comm.size());
  const KnnOptions options{.k = 20, .chunk_bytes = 50000};
  const KnnOutput output{.quantities = {{Quantity::density, SphKernel::wendland_c4},
                                        {Quantity::velocity_dispersion, {}}}};
  // Velocities are positions; masses are these, or all the same.
  const auto quantities_of = [&](const Context& there, const Share& share, bool has_masses) {
    const Buffer<float> rows = upload(there.exec, rows_of(points, share));
    std::vector<double> masses;
    for (Index i = 0; i < share.count; ++i)
      masses.push_back(static_cast<double>(1 + (share.first + i) % 7));
    const Buffer<double> mass = upload(there.exec, masses);
    Particles<float> particles = view_of(rows, 3);
    particles.uniform_mass = 0.3;
    particles.segments.front().set_interleaved_velocity(rows.data());
    if (has_masses) particles.segments.front().mass = mass.data();
    std::vector<std::vector<double>> values;
    for (const Buffer<double>& one : knn(there, particles, points.box, options, output).quantities)
      values.push_back(to_host(there.exec, one));
    return values;
  };
  Context alone;
  alone.exec = host_exec(1);
  for (const bool has_masses : {false, true}) {
    const auto found = quantities_of(context, part, has_masses);
    const auto expected = quantities_of(alone, {0, points.num()}, has_masses);
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK(found[i] == slice(expected[i], part));
  }
}
