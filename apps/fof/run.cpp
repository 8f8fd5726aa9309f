#include "apps/fof/run.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <utility>

#include "apps/cli/on_host.hpp"
#include "apps/cli/snapshot.hpp"
#include "apps/report/results.hpp"
#include "zhalo/catalogue/attach.hpp"
#include "zhalo/catalogue/catalogue.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/fof/fof.hpp"
#include "zhalo/io/catalogue_file.hpp"
#include "zhalo/io/load.hpp"

namespace zhalo::fof_app {
namespace {

/// What make_catalogue needs, and what was met on the way.
struct Grouped {
  Buffer<Index> label;  ///< of each loaded particle, or no_group
  Index num_wrapped = 0;
  FofStatistics statistics;
};

bool is_linked(const Plan& plan, const io::TypeRange& range) {
  return std::count(plan.link_types.begin(), plan.link_types.end(), range.type) > 0;
}

/// Views of the loaded particles that are linked, or of those that are not.
template <class Real>
Particles<Real> part_of(const io::LoadedParticles<Real>& loaded, const Plan& plan, bool linked) {
  Particles<Real> part = loaded.particles;
  part.segments.clear();
  for (std::size_t i = 0; i < loaded.ranges.size(); ++i) {
    if (is_linked(plan, loaded.ranges[i]) == linked)
      part.segments.push_back(loaded.particles.segments[i]);
  }
  return part;
}

/// Labels of both kinds in the order of the loaded particles.
Buffer<Index> merge_labels(const Exec& exec, const std::vector<io::TypeRange>& ranges,
                           const Plan& plan, Span<const Index> linked, Span<const Index> others) {
  Buffer<Index> label(exec, linked.size() + others.size(), "labels");
  Index next_linked = 0, next_other = 0;
  for (const io::TypeRange& range : ranges) {
    const bool is_linker = is_linked(plan, range);
    Index& next = is_linker ? next_linked : next_other;
    const Span<const Index> from = (is_linker ? linked : others).subspan(next, range.count);
    copy_bytes(exec, label.data() + (next_linked + next_other), from.data(),
               static_cast<std::size_t>(range.count) * sizeof(Index));
    next += range.count;
  }
  return label;
}

/// Links the particles of the linked types and attaches those of the others. Collective.
template <class Real>
Grouped link_and_attach(const Context& context, const io::LoadedParticles<Real>& loaded,
                        const Plan& plan) {
  const FofOptions options{.linking_length = plan.linking.length};
  const Particles<Real> linked = part_of(loaded, plan, true);
  FofResult fof = friends_of_friends(context, linked, plan.box, options);
  if (plan.attach.types.empty()) return {std::move(fof.label), fof.num_wrapped, fof.statistics};
  const double radius = plan.attach.radius * plan.linking.length;
  const AttachResult attached = attach_particles<Real>(
      context, {linked, fof.label.span()}, part_of(loaded, plan, false), plan.box, radius);
  return {merge_labels(context.exec, loaded.ranges, plan, fof.label.span(), attached.label.span()),
          attached.num_wrapped, fof.statistics};
}

Exchanged exchanged_over_ranks(const Communicator& comm, const FofStatistics& mine) {
  const auto spread = [&](Index count) { return app::spread_of(comm, static_cast<double>(count)); };
  return {spread(mine.num_local), spread(mine.ghosts_sent), comm.sum(mine.edges),
          comm.max(mine.rounds), spread(mine.bytes_sent)};
}

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

  Result result;
  result.warnings = warnings_of(context.comm, catalogue);
  result.num_wrapped = grouped.num_wrapped;
  result.exchanged = exchanged_over_ranks(context.comm, grouped.statistics);
  result.max_particles = context.comm.max(loaded.particles.num());
  result.min_particles = context.comm.min(loaded.particles.num());
  result.num_groups = catalogue.num_groups_total;
  result.num_members = catalogue.num_members_total;
  result.members_by_type = count_by_type(context.comm, catalogue);
  result.largest = first_rows(catalogue, 10);
  return result;
}

}  // namespace

Result find_groups(const Context& context, const io::Snapshot& snapshot, const Plan& plan,
                   io::StagedFiles& files) {
  Result result = plan.double_positions ? find_groups_of<double>(context, snapshot, plan, files)
                                        : find_groups_of<float>(context, snapshot, plan, files);
  const app::ResultNames names = app::bring_to_disk(context, {{&files}, {}});
  result.files = names.paths;
  result.num_files = names.num_files;
  result.measured = app::measure(context);
  return result;
}

}  // namespace zhalo::fof_app
