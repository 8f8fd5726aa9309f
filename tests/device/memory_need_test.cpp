// What calls take of a device's memory is what was predicted, within 10%.
#include <catch2/catch.hpp>

#include <cmath>
#include <functional>
#include <string>

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

void check_searches(const Context& context, points::Kind kind, Index num) {
  const Sample sample(context, kind, num);
  const SearchSize size{num, context.comm.size(), false};
  const auto checked = [&](const char* what, double predicted, const std::function<void()>& call) {
    check(what, size, predicted, peak_of(context, call));
  };
  const FofOptions options{.linking_length = sample.linking_length()};
  checked("friends_of_friends", friends_of_friends_need(size).peak,
          [&] { friends_of_friends(context, sample.particles(), sample.box, options); });
  checked("knn", knn_need(size, {.k = 8}).peak,
          [&] { knn(context, sample.particles(), sample.box, {.k = 8}); });
  checked("knn in chunks", knn_need(size, {.k = 16, .chunk_bytes = 1 << 20}).peak,
          [&] { knn(context, sample.particles(), sample.box, {.k = 16, .chunk_bytes = 1 << 20}); });
  checked("knn_reduce", knn_reduce_need(size, {.k = 32}).peak, [&] {
    neighbour_quantity(context, sample.particles(), sample.box, {.k = 32},
                       {Quantity::kth_radius, {}});
  });
  MemoryTally tally;
  tally.call(domain_need(size));
  tally.call(groups_need(size));
  tally.call(catalogue_need(size));
  checked("make_catalogue", tally.peak(), [&] {
    const Domain<float> domain(context, sample.particles(), sample.box,
                               {.min_length = options.linking_length});
    const FofResult groups = friends_of_friends(domain, options);
    make_catalogue(domain, groups.label.span(), CatalogueOptions{});
  });
}

void check_meshes(const Context& context, points::Kind kind, Index side) {
  const Index num = side * side * side;
  const Sample sample(context, kind, num);
  const SearchSize size{num, context.comm.size(), false};
  const MeshSize mesh{{{side, side, side}}, context.comm.size(), false};
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
  for (const points::Kind kind : {points::Kind::uniform, points::Kind::clustered}) {
    for (const Index num : {10000, 60000, 300000}) {
      if (num / context.comm.size() >= 10000 && num < 20000 * context.comm.size() + 260000)
        check_searches(context, kind, num);
    }
    for (const Index side : {32, 48}) check_meshes(context, kind, side);
  }
}

}  // namespace zhalo::emulated
