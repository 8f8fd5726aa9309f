// What a run needs of a device: the calls of run.cpp, one after the other.
#include <fmt/format.h>

#include <algorithm>

#include "apps/knn/knn.hpp"
#include "zhalo/core/memory_need.hpp"

namespace zhalo::knn_app {
namespace {

/// Of a particle as it was read.
double bytes_read(const Plan& plan) {
  double bytes = 3 * (plan.double_positions ? 8 : 4);
  for (const int type : plan.options.types) {
    const io::TypeSummary& t = plan.snapshot.types.at(static_cast<std::size_t>(type));
    const double part =
        static_cast<double>(t.count) / static_cast<double>(std::max(plan.num_particles, Index{1}));
    if (any_needs_velocities(plan.options)) bytes += part * 3 * (t.double_velocities ? 8 : 4);
    if (any_needs_masses(plan.options) && !t.uniform_mass)
      bytes += part * (t.double_masses ? 8 : 4);
  }
  return bytes;
}

double bytes_of_device(const Plan& plan, int ranks) {
  const SearchSize size{plan.num_particles, ranks, plan.double_positions};
  const QuantityNeeds needs{needs_mass_column(plan), any_needs_velocities(plan.options)};
  const NeighbourSize search{.num_queries = plan.query ? plan.num_queries : 0,
                             .k = plan.options.k,
                             .bytes_per_column = needs.bytes_per_particle(),
                             .lists = plan.options.lists,
                             .num_quantities = static_cast<int>(plan.options.reductions.size())};
  MemoryTally tally;
  tally.take(static_cast<double>(plan.num_particles) / ranks * bytes_read(plan));
  if (plan.query)
    tally.take(static_cast<double>(plan.num_queries) / ranks * 3 * (plan.double_positions ? 8 : 4));
  tally.call(knn_need(size, search));
  return tally.peak();
}

}  // namespace

app::DeviceNeed device_need(const Plan& plan) {
  return {fmt::format("{} neighbours among {} particles", plan.options.k, plan.num_particles),
          [plan](int ranks) { return bytes_of_device(plan, ranks); }};
}

}  // namespace zhalo::knn_app
