// What calls take of a device's memory is what was predicted, within 10%.
#include <catch2/catch.hpp>

#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/device/sample.hpp"
#include "zhalo/catalogue/catalogue.hpp"
#include "zhalo/core/memory_need.hpp"
#include "zhalo/fof/fof.hpp"
#include "zhalo/ics/initial_conditions.hpp"
#include "zhalo/knn/reduce.hpp"
#include "zhalo/mesh/paint.hpp"

namespace zhalo::emulated {
namespace {

/// Bytes that the call takes at most, on the rank with most.
double peak_of(const Context& context, const std::function<void()>& call) {
  MemoryPool& pool = *memory(context.exec);
  pool.reset_peak();
  const std::size_t before = pool.bytes_in_use();
  call();
  return context.comm.max(static_cast<double>(pool.peak_bytes() - before));
}

void check(const std::string& what, const SearchSize& size, double predicted, double measured) {
  INFO(what << " of " << size.num_particles << " particles on " << size.num_ranks
            << " ranks: predicted " << predicted << ", measured " << measured << ", ratio "
            << predicted / measured);
  CHECK(std::abs(predicted - measured) <= 0.1 * measured);
}

/// As the header says of these points.
Clustering clustering_of(points::Kind kind) {
  return kind == points::Kind::uniform ? Clustering{0.043, 0, 1} : Clustering{0.12, 0.6, 0.6};
}

void check_groups(const Context& context, points::Kind kind, Index num) {
  const Sample sample(context, kind, num);
  SearchSize size{num, context.comm.size()};
  const FofOptions options{.linking_length = sample.linking_length()};
  const double groups = peak_of(
      context, [&] { friends_of_friends(context, sample.particles(), sample.box, options); });
  check("friends_of_friends", size, friends_of_friends_need(size).peak, groups);
  size.clustering = clustering_of(kind);
  for (const bool of_labels : {false, true}) {
    const double catalogue = peak_of(context, [&] {
      const Domain<float> domain(context, sample.particles(), sample.box,
                                 {.min_length = options.linking_length});
      const FofResult found = friends_of_friends(domain, options);
      if (of_labels) {
        make_catalogue(domain, found.label.span(), CatalogueOptions{});
      } else {
        make_catalogue(domain, found, CatalogueOptions{});
      }
    });
    MemoryTally tally;
    tally.call(domain_need(size));
    tally.call(groups_need(size));
    tally.call(catalogue_need(size, of_labels));
    check(of_labels ? "make_catalogue of labels" : "make_catalogue", size, tally.peak(), catalogue);
  }
}

void check_neighbours(const Context& context, points::Kind kind, Index num) {
  const Sample sample(context, kind, num);
  const SearchSize size{num, context.comm.size()};
  for (const Index chunk_bytes : {Index{0}, Index{1} << 19}) {
    const KnnOptions options{.k = 8, .chunk_bytes = chunk_bytes};
    const double lists =
        peak_of(context, [&] { knn(context, sample.particles(), sample.box, options); });
    check("knn", size, knn_need(size, {.k = 8, .chunk_bytes = chunk_bytes}).peak, lists);
  }
  const double reduced = peak_of(context, [&] {
    neighbour_quantity(context, sample.particles(), sample.box, {.k = 32},
                       {Quantity::kth_radius, {}});
  });
  check("knn_reduce", size, knn_need(size, {.k = 32, .lists = false, .num_quantities = 1}).peak,
        reduced);
  const KnnOutput densities{.distances = false,
                            .indices = false,
                            .quantities = {{Quantity::density, {}}, {Quantity::kth_radius, {}}}};
  const double both =
      peak_of(context, [&] { knn(context, sample.particles(), sample.box, {.k = 8}, densities); });
  NeighbourSize search{.k = 8, .lists = false, .num_quantities = 2};
  check("quantities of equal masses", size, knn_need(size, search).peak, both);
  Particles<float> heavy = sample.particles();
  const std::vector<double> masses(static_cast<std::size_t>(heavy.num()), 2.0);
  const auto mass = to_exec(context.exec, Span<const double>(masses), "masses");
  heavy.segments.front().mass = mass.data();
  search.bytes_per_column = 8;
  KnnOutput lists_too = densities;
  for (const bool has_lists : {false, true}) {
    lists_too.distances = lists_too.indices = search.lists = has_lists;
    const double all =
        peak_of(context, [&] { knn(context, heavy, sample.box, {.k = 8}, lists_too); });
    check(has_lists ? "lists and quantities" : "quantities", size, knn_need(size, search).peak,
          all);
  }
}

/// Two planes on each rank: with PCS there are more ghosts than cells.
void check_thin_slabs(const Context& context, Index num, Index side) {
  const Sample sample(context, points::Kind::uniform, num);
  const int ranks = context.comm.size();
  const Grid grid{{{2 * ranks, side, side}}, sample.box};
  const Decomposition slabs(grid, ranks, {.shape = {ranks, 1}});
  const MeshSize mesh{grid.num, ranks};
  for (const Window window : {Window::cic, Window::pcs}) {
    const double painted =
        field_bytes(mesh) + paint_need({num, ranks}, mesh, order_of(window)).peak;
    check("paint into thin slabs", {num, ranks}, painted, peak_of(context, [&] {
            Field<float> field(context, slabs);
            paint(context, sample.particles(), field, {.window = window});
          }));
  }
}

/// Transforms on pencils: one exchange, or on 4 ranks two, each with a memory of its own.
void check_pencils(const Context& context, Index side) {
  const int ranks = context.comm.size();
  const std::array<int, 2> shape = ranks == 4 ? std::array{2, 2} : std::array{1, ranks};
  const MeshSize mesh{{{side, side, side}}, ranks, false, shape};
  const Grid grid{mesh.num, Box::periodic_cube(1)};
  Field<float> field(context, Decomposition(grid, ranks, {.shape = shape}));
  std::optional<Modes<float>> modes;
  check("to_modes on pencils", {0, ranks}, to_modes_need(mesh).peak,
        peak_of(context, [&] { modes.emplace(to_modes(context, field)); }));
  check("to_field on pencils", {0, ranks}, to_field_need(mesh).peak,
        peak_of(context, [&] { to_field(context, std::move(*modes), field); }));
}

void check_meshes(const Context& context, points::Kind kind, Index side) {
  const Index num = side * side * side;
  const Sample sample(context, kind, num);
  const SearchSize size{num, context.comm.size()};
  const MeshSize mesh{{{side, side, side}}, context.comm.size()};
  const Decomposition decomposition(Grid{mesh.num, sample.box}, context.comm.size());
  const double painted = field_bytes(mesh) + paint_need(size, mesh).peak;
  check("paint", size, painted, peak_of(context, [&] {
          Field<float> field(context, decomposition);
          paint(context, sample.particles(), field);
        }));
  const double displaced = modes_bytes(mesh) + displace_need(mesh).peak;
  check("initial conditions", size, displaced, peak_of(context, [&] {
          const auto linear = random_modes<float>(context, decomposition, eisenstein_hu_power({}));
          displace(context, linear);
        }));
}

}  // namespace

TEST_CASE("calls take as much memory of a device as was predicted") {
  const Context context = on_device();
  const Index ranks = context.comm.size();
  for (const points::Kind kind : {points::Kind::uniform, points::Kind::clustered}) {
    check_groups(context, kind, 10000 * ranks);
    check_groups(context, kind, ranks == 1 ? 300000 : 80000);
    check_neighbours(context, kind, 10000 * ranks);
    for (const Index side : {32, 48}) check_meshes(context, kind, side);
    for (const Index side : {64, 256}) check_thin_slabs(context, 20000 * ranks, side);
  }
  if (ranks > 1) check_pencils(context, 96);
}

}  // namespace zhalo::emulated
