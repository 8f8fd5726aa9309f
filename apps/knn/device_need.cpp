// What a run needs of a device: the calls of run.cpp, one after the other.
#include <fmt/format.h>

#include "apps/cli/snapshot.hpp"
#include "apps/knn/knn.hpp"
#include "zhalo/core/memory_need.hpp"

namespace zhalo::knn_app {
namespace {

double bytes_of_device(const Plan& plan, int ranks) {
  const SearchSize size{plan.num_particles, ranks, plan.double_positions};
  const QuantityNeeds needs{needs_mass_column(plan), any_needs_velocities(plan.options)};
  const NeighbourSize search{.num_queries = plan.query ? plan.num_queries : 0,
                             .k = plan.options.k,
                             .bytes_per_column = needs.bytes_per_particle(),
                             .lists = plan.options.lists,
                             .num_quantities = static_cast<int>(plan.options.reductions.size())};
  const app::ColumnBytes column =
      app::bytes_read(plan.snapshot, plan.options.types, plan.double_positions);
  double bytes_read = column.position;
  if (any_needs_velocities(plan.options)) bytes_read += column.velocity;
  if (any_needs_masses(plan.options)) bytes_read += column.mass;
  MemoryTally tally;
  tally.take(static_cast<double>(plan.num_particles) / ranks * bytes_read);
  if (plan.query) tally.take(static_cast<double>(plan.num_queries) / ranks * column.position);
  tally.call(knn_need(size, search));
  return tally.peak();
}

}  // namespace

app::DeviceNeed device_need(const Plan& plan) {
  return {fmt::format("{} neighbours among {} particles", plan.options.k, plan.num_particles),
          [plan](int ranks) { return bytes_of_device(plan, ranks); }};
}

}  // namespace zhalo::knn_app
