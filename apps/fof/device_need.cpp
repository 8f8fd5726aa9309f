// What a run needs of a device: the calls of run.cpp, one after the other.
#include <fmt/format.h>

#include <algorithm>

#include "apps/cli/snapshot.hpp"
#include "apps/fof/fof.hpp"
#include "zhalo/core/memory_need.hpp"

namespace zhalo::fof_app {
namespace {

double bytes_of_device(const Plan& plan, int ranks) {
  const SearchSize size{plan.num_particles(), ranks, plan.double_positions};
  const double num = static_cast<double>(size.num_particles) / ranks;
  const app::ColumnBytes column = app::bytes_read(
      plan.snapshot, all_types(plan.link_types, plan.attach), plan.double_positions);
  const double pos = num * column.position;
  const double moved = column.velocity + column.mass;
  MemoryTally tally;
  tally.take(pos + num * (moved + column.id));
  tally.call(domain_need(size));
  tally.drop(pos);
  tally.call(groups_need(size));
  const bool attaches = plan.num_attachable > 0;
  if (attaches)
    tally.call({knn_need(size, {plan.num_attachable, 1}).peak - domain_need(size).kept, 0});
  tally.call(columns_need(size, moved, std::max(column.velocity, column.mass)));
  tally.drop(num * moved);
  const double labels_and_parts = num * static_cast<double>(sizeof(Index) + sizeof(LocalIndex));
  const double joined = attaches ? labels_and_parts : 0;
  tally.take(joined);
  tally.call(catalogue_need(size));
  tally.drop(joined + labels_and_parts);
  if (column.id > 0) tally.call(group_order_need(size, column.id));
  return tally.peak();
}

}  // namespace

app::DeviceNeed device_need(const Plan& plan) {
  return {fmt::format("groups of {} particles", plan.num_particles()),
          [plan](int ranks) { return bytes_of_device(plan, ranks); }};
}

}  // namespace zhalo::fof_app
