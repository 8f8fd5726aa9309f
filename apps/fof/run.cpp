#include "apps/fof/run.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "apps/cli/on_host.hpp"
#include "apps/cli/snapshot.hpp"
#include "apps/fof/attach.hpp"
#include "apps/report/results.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/io/catalogue_file.hpp"

namespace zhalo::fof_app {
namespace {

io::RunRecord record_of(const Plan& plan) {
  io::RunRecord run;
  run.linking_length = plan.linking.length;
  run.linking_ratio = plan.linking.ratio.value_or(0);
  if (plan.linking.mean_separation) {
    run.mean_separation = plan.linking.mean_separation->chosen;
    run.mean_separation_rule = plan.linking.mean_separation->how;
  }
  run.min_members = plan.min_size;
  run.linked_types = plan.link_types;
  run.attached_types = plan.attach.types;
  run.attach_radius = plan.attach.radius;
  run.only_linked_count = plan.attach.only_linked_count;
  run.periodic = plan.box.any_periodic();
  return run;
}

template <class Real>
void write(const Context& context, const io::LoadedParticles<Real>& loaded,
           const Catalogue& catalogue, const Plan& plan, io::StagedFiles& files) {
  const ScopedTimer timer(context.timers, "write");
  const io::RunRecord run = record_of(plan);
  const Buffer<std::uint64_t> member_id = loaded.has_ids
                                              ? in_group_order(context, catalogue, loaded.id.span())
                                              : Buffer<std::uint64_t>();
  write_catalogue(files, {catalogue, app::OnHost(context.exec, member_id).view()}, plan.snapshot,
                  run, plan.files);
  if (!plan.membership) return retire_membership(files, plan.snapshot);
  const app::OnHost group_of(context.exec, catalogue.group_of);
  const app::OnHost id(context.exec, loaded.id);
  write_membership(files, {loaded.ranges, group_of.view(), id.view()}, plan.snapshot, run,
                   plan.files);
}

std::vector<GroupRow> first_rows(const Catalogue& catalogue, std::size_t most) {
  std::vector<GroupRow> rows;
  for (std::size_t i = 0; i < std::min(most, catalogue.length.size()); ++i) {
    const HaloProperties& halo = catalogue.properties[i];
    rows.push_back({catalogue.length[i], halo.mass, halo.centre, std::nullopt});
    if (catalogue.has_velocities) rows.back().velocity = halo.velocity;
  }
  return rows;
}

CatalogueOptions catalogue_options(const Plan& plan) {
  CatalogueOptions options{.min_members = plan.min_size,
                           .num_types = static_cast<int>(plan.snapshot.types.size())};
  if (plan.attach.only_linked_count) options.counted_types = plan.link_types;
  return options;
}

/// Members of all groups on all ranks.
std::vector<Index> count_by_type(const Communicator& comm, const Catalogue& catalogue) {
  const auto num_types = static_cast<std::size_t>(catalogue.num_types);
  std::vector<Index> counts(num_types);
  for (std::size_t at = 0; at < catalogue.length_by_type.size(); ++at)
    counts[at % num_types] += catalogue.length_by_type[at];
  comm.sum_in_place(counts);
  return counts;
}

/// Of all ranks.
std::vector<std::string> warnings_of(const Communicator& comm, const Catalogue& catalogue) {
  const auto is_unknown = [](const HaloProperties& halo) { return std::isnan(halo.velocity[0]); };
  const Index others = comm.sum(static_cast<Index>(
      std::count_if(catalogue.properties.begin(), catalogue.properties.end(), is_unknown)));
  if (others == 0 || !catalogue.has_velocities) return {};
  return {
      fmt::format("the velocities of {} of {} groups are not finite (NaN or infinite), because "
                  "those of members are not: repair the "
                  "snapshot, or leave these groups out",
                  others, catalogue.num_groups_total)};
}

template <class Real>
Result find_groups_of(const Context& context, const io::Snapshot& snapshot, const Plan& plan,
                      io::StagedFiles& files) {
  io::LoadedParticles<Real> loaded;
  {
    const ScopedTimer timer(context.timers, "read");
    loaded = io::load_particles<Real>(context, snapshot, all_types(plan.link_types, plan.attach));
  }
  Grouped grouped = link_and_attach(context, loaded, plan);
  app::check_wrapped({plan.num_particles(), grouped.num_wrapped}, plan.box, plan.wrap_all);
  const Catalogue catalogue = make_catalogue(context, loaded.particles, plan.box,
                                             grouped.label.span(), catalogue_options(plan));
  grouped.label = {};
  write(context, loaded, catalogue, plan, files);

  Result found;
  found.warnings = warnings_of(context.comm, catalogue);
  found.num_wrapped = grouped.num_wrapped;
  found.exchanged = exchanged_over_ranks(context.comm, grouped.statistics);
  found.max_particles = context.comm.max(loaded.particles.num());
  found.fewest_particles = context.comm.min(loaded.particles.num());
  found.num_groups = catalogue.num_groups_total;
  found.num_members = catalogue.num_members_total;
  found.members_by_type = count_by_type(context.comm, catalogue);
  found.largest = first_rows(catalogue, 10);
  return found;
}

}  // namespace

Result find_groups(const Context& context, const io::Snapshot& snapshot, const Plan& plan,
                   io::StagedFiles& files) {
  Result found = plan.double_positions ? find_groups_of<double>(context, snapshot, plan, files)
                                       : find_groups_of<float>(context, snapshot, plan, files);
  const app::ResultNames names = app::bring_to_disk(context, {{&files}, {}});
  found.files = names.paths;
  found.num_files = names.num_files;
  found.measured = app::measure(context);
  return found;
}

}  // namespace zhalo::fof_app
