// What a run needs of a device: the calls of run.cpp, one after the other.
#include <fmt/format.h>

#include "apps/cli/snapshot.hpp"
#include "apps/density/density.hpp"
#include "zhalo/core/memory_need.hpp"

namespace zhalo::density_app {
namespace {

double bytes_of_device(const Plan& plan, int ranks) {
  const Options& options = plan.options;
  const SearchSize size{plan.num_particles, ranks, plan.double_positions};
  const MeshSize mesh{plan.grid.num, ranks, false, Decomposition(plan.grid, ranks).shape()};
  const app::ColumnBytes column =
      app::bytes_read(plan.snapshot, options.types, plan.double_positions);
  const double particles = static_cast<double>(plan.num_particles) / ranks *
                           (column.position + (options.by_number ? 0 : column.mass));
  const bool has_power = !options.power.empty();
  const bool is_painted = needs_field(options) && !options.interlaced &&
                          field_compensation(options) == Compensation::none;
  MemoryTally tally;
  tally.take(particles);
  if (is_painted) {
    tally.take(field_bytes(mesh));
    tally.call(paint_need(size, mesh, order_of(options.window)));
    tally.drop(particles);
    if (has_power) tally.call(to_modes_need(mesh));
    return tally.peak();
  }
  for (int meshes = 0; meshes < (options.interlaced ? 2 : 1); ++meshes) {
    tally.take(modes_bytes(mesh));
    tally.call(paint_need(size, mesh, order_of(options.window)));
    tally.call(to_field_need(mesh));  // the way to modes takes as much, in place
  }
  if (options.interlaced) tally.drop(modes_bytes(mesh));
  tally.drop(particles);
  if (!needs_field(options)) return tally.peak();
  tally.take(field_bytes(mesh));
  tally.call(to_field_need(mesh));
  return tally.peak();
}

}  // namespace

app::DeviceNeed device_need(const Plan& plan) {
  return {
      fmt::format("a density of {} particles in {}^3 cells", plan.num_particles, plan.options.grid),
      [plan](int ranks) { return bytes_of_device(plan, ranks); }};
}

}  // namespace zhalo::density_app
