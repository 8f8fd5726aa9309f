// What a run needs of a device: the calls of run.cpp, one after the other.
#include <fmt/format.h>

#include <algorithm>

#include "apps/fof/fof.hpp"
#include "zhalo/core/memory_need.hpp"

namespace zhalo::fof_app {
namespace {

/// Bytes per particle that are read, or of the longest of them.
struct Columns {
  double velocity = 0;
  double mass = 0;
  double id = 0;

  explicit Columns(const Plan& plan) {
    const auto all = static_cast<double>(plan.num_particles());
    for (const int type : all_types(plan.link_types, plan.attach)) {
      const io::TypeSummary& t = plan.snapshot.types.at(static_cast<std::size_t>(type));
      const double part = static_cast<double>(t.count) / all;
      if (t.has_velocities) velocity += part * 3 * (t.double_velocities ? 8 : 4);
      if (!t.uniform_mass) mass += part * (t.double_masses ? 8 : 4);
      if (t.has_ids) id += part * sizeof(std::uint64_t);
    }
  }
};

double bytes_of_device(const Plan& plan, int ranks) {
  const SearchSize size{plan.num_particles(), ranks, plan.double_positions};
  const double num = static_cast<double>(size.num_particles) / ranks;
  const Columns column(plan);
  const double pos = num * 3 * (plan.double_positions ? 8 : 4);
  const double moved = column.velocity + column.mass;
  MemoryTally tally;
  tally.take(pos + num * (moved + column.id));
  tally.call(domain_need(size));
  tally.drop(pos);
  tally.call(groups_need(size));
  const bool attaches = plan.num_attachable > 0;
  if (attaches) tally.drop(num * sizeof(LocalIndex));  // parts of groups
  if (attaches)
    tally.call({knn_need(size, {plan.num_attachable, 1}).peak - domain_need(size).kept, 0});
  tally.call(columns_need(size, moved, std::max(column.velocity, column.mass)));
  tally.drop(num * moved);
  tally.call(catalogue_need(size, attaches));
  tally.drop(num * static_cast<double>(sizeof(Index) +
                                       (attaches ? 0 : sizeof(LocalIndex))));  // labels, parts
  if (column.id > 0) tally.call(group_order_need(size, column.id));
  return tally.peak();
}

}  // namespace

app::DeviceNeed device_need(const Plan& plan) {
  return {fmt::format("groups of {} particles", plan.num_particles()),
          [plan](int ranks) { return bytes_of_device(plan, ranks); }};
}

}  // namespace zhalo::fof_app
