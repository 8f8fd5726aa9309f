#include "apps/fof/fof.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <filesystem>

#include "apps/cli/options.hpp"
#include "apps/cli/process.hpp"
#include "apps/cli/run_files.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/core/memory_need.hpp"
#include "zhalo/io/load.hpp"

namespace zhalo::fof_app {
namespace {

/// Beyond these a unit is wrong: positions in float32 cannot tell such a length from none, or
/// everything is one group.
constexpr double min_ratio = 1e-6;
constexpr double largest_ratio = 100;

/// Not needed, and then it may be unknown, when the user gave the length itself.
void set_mean_separation(Linking& linking, const Plan& plan, const Options& options,
                         const MassSummary& masses) {
  try {
    linking.mean_separation = mean_separation(io::matter_of(plan.snapshot, plan.link_types), masses,
                                              options.mean_separation);
  } catch (const InputError& error) {
    if (!options.linking_length)
      throw InputError(fmt::format("{} (--meansep, --rlink-abs{})", error.what(),
                                   plan.snapshot.box_length ? "" : ", --box-size"));
    linking.mean_separation_missing = error.what();
  }
}

void check_against_separation(Linking& linking, const std::string& unit) {
  if (!linking.ratio) return;
  const double ratio = *linking.ratio;
  const std::string what = fmt::format("the linking length {:.9g} {} is {:.3g} mean separations",
                                       linking.length, unit, ratio);
  if (ratio < min_ratio || ratio > largest_ratio) {
    throw InputError(fmt::format(
        "{} (must be {:g} to {:g}); check --rlink, and the unit of --rlink-abs or --meansep", what,
        min_ratio, largest_ratio));
  }
  if (ratio > 0.5) linking.warnings.push_back(what + ": groups may join everything; 0.2 is usual");
  if (ratio < 1e-3)
    linking.warnings.push_back(what + ": hardly any particles are that close; 0.2 is usual");
}

void check_against_box(Linking& linking, const Box& box, const std::string& unit) {
  if (box.volume() <= 0) return;
  const double side = *std::min_element(box.length.at, box.length.at + box.dimensions);
  const std::string what =
      fmt::format("the linking length {:.9g} {} is {:.3g} times the box's side", linking.length,
                  unit, linking.length / side);
  if (box.any_periodic() && linking.length > side / 2) {
    throw InputError(
        what + ", more than half of a periodic box; check --rlink, --rlink-abs and their unit");
  }
  if (linking.length > side / 4) linking.warnings.push_back(what + ": check its unit");
}

/// Throws InputError if the mean separation is needed and unknown, or the length makes no sense in
/// this box.
Linking choose_linking(const Plan& plan, const Options& options, const MassSummary& masses) {
  Linking linking;
  set_mean_separation(linking, plan, options, masses);
  if (options.linking_length) {
    linking.length = *options.linking_length;
    if (linking.mean_separation) linking.ratio = linking.length / linking.mean_separation->chosen;
  } else {
    linking.ratio = options.linking_ratio;
    linking.length = options.linking_ratio * linking.mean_separation->chosen;
  }
  std::string unit = plan.snapshot.units.length_name();
  if (plan.snapshot.units.assumed) unit += " (assumed: the file states no unit)";
  check_against_separation(linking, unit);
  check_against_box(linking, plan.box, unit);
  const bool derived =
      !options.linking_length && options.mean_separation.rule != MeanSeparationRule::given;
  if (derived && !linking.mean_separation->warning.empty())
    linking.warnings.push_back(linking.mean_separation->warning);
  return linking;
}

/// Bytes per particle of the search at its peak, beyond the columns: keys, orders, sorted
/// positions, tree, labels. Measured from 34 to 46 with float and 48 to 52 with double, for
/// clustered and uniform particles, b = 0.01 to 0.5.
///
/// On several ranks up to 14 more, for 16384 to 131072 particles a rank and b up to 1.3 mean
/// separations: what is sent, and ghosts.
std::size_t search_bytes(std::size_t real_bytes, int ranks) {
  return 36 + 3 * real_bytes + (ranks > 1 ? 24 : 0);
}

/// More per attached particle while its nearest linked one is searched. Measured 5 with float and
/// 14 with double, where they are many.
std::size_t attach_bytes(std::size_t real_bytes) { return 8 + 2 * real_bytes; }

/// A group in memory, as a row and in the buffers of the writer, with what the search has left in
/// its pool. Of several types there are sums for each, and where particles are attached, these are
/// made of two parts.
///
/// Measured of the process, for 1e6 particles that are a group each: 885 with one type, 1186 with
/// two, and 1850 where as many are attached.
std::size_t group_bytes(const Plan& plan) {
  constexpr std::size_t sum_bytes = 32;  // length and mass of a type
  const bool attaches = !plan.attach.types.empty();
  constexpr std::size_t of_one_type = 930;
  if (plan.link_types.size() == 1 && !attaches) return of_one_type;
  const std::size_t columns = std::max<std::size_t>(6, plan.snapshot.types.size());
  return of_one_type + columns * sum_bytes * (attaches ? 5 : 2);
}

/// A row of the catalogue file: lengths, offsets and properties, and those per particle type.
std::size_t row_bytes(const io::SnapshotInfo& info) {
  const std::size_t columns = std::max<std::size_t>(6, info.types.size());
  return 200 + 24 * columns;
}

/// Of each kind.
Index num_files(const Plan& plan) {
  return plan.files.num_files_on(plan.ranks.num_ranks) + (plan.files.master ? 1 : 0);
}

/// Of the run that the rest of the plan describes, as measured on the host.
Estimate estimate_needs(const Plan& plan) {
  const std::size_t real_bytes = plan.double_positions ? sizeof(double) : sizeof(float);
  Estimate estimate;
  for (const int type : all_types(plan.link_types, plan.attach)) {
    const io::TypeSummary& t = plan.snapshot.types.at(static_cast<std::size_t>(type));
    const auto count = static_cast<std::size_t>(t.count);
    const app::ColumnBytes column = app::bytes_read(plan.snapshot, {type}, plan.double_positions);
    const auto columns = static_cast<std::size_t>(column.all());
    const auto id = static_cast<std::size_t>(column.id);
    estimate.memory += count * (columns + search_bytes(real_bytes, plan.ranks.num_ranks));
    const bool attached = std::count(plan.attach.types.begin(), plan.attach.types.end(), type) > 0;
    if (attached) estimate.memory += count * attach_bytes(real_bytes);
    estimate.catalogue_limit += count * id;
    if (plan.membership) estimate.membership += count * (sizeof(Index) + id);
  }
  const Index counted = plan.attach.only_linked_count ? plan.num_linked : plan.num_particles();
  const auto max_groups =
      static_cast<std::size_t>(std::min(plan.num_linked, counted / plan.min_size));
  estimate.catalogue_limit +=
      app::header_bytes(num_files(plan)) + max_groups * row_bytes(plan.snapshot);
  estimate.memory += max_groups * group_bytes(plan);
  const auto ranks = static_cast<std::size_t>(plan.ranks.num_ranks);
  estimate.memory_per_rank = (estimate.memory + ranks - 1) / ranks;
  if (plan.membership) estimate.membership += app::header_bytes(num_files(plan));
  return estimate;
}

/// The names that io::write_catalogue and io::write_membership give their files.
app::RunFiles files_of(const io::SnapshotInfo& snapshot, const Options& options) {
  const std::string number = fmt::format("{:03d}", snapshot.number);
  const std::filesystem::path folder = options.output;
  return {snapshot.files,
          {{folder / ("groups_" + number), "fof_subhalo_tab_" + number, io::Content::catalogue},
           {folder, "membership_" + number, io::Content::membership}},
          {{"--json", options.json}},
          1,
          snapshot.origins};
}

void choose_types(Plan& plan, const Options& options) {
  const io::SnapshotInfo& info = plan.snapshot;
  plan.link_types = app::present_types(info, "--link-types", options.link_types, plan.warnings);
  plan.attach = options.attach;
  if (plan.attach.types.empty()) return;
  plan.attach.types =
      app::types_with_particles(info, "--attach-types", options.attach.types, plan.warnings);
  for (const int type : plan.attach.types) {
    const io::TypeSummary& summary = info.types[static_cast<std::size_t>(type)];
    if (summary.mass_source == "none")
      throw InputError(fmt::format(
          "'{}' has no masses of particle type {}, which the catalogue needs: attach other types",
          info.path, type));
    plan.num_attachable += summary.count;
  }
}

std::vector<std::string> warnings_of(const Plan& plan) {
  std::vector<std::string> warnings = plan.snapshot.warnings;
  warnings.insert(warnings.end(), plan.warnings.begin(), plan.warnings.end());
  warnings.insert(warnings.end(), plan.linking.warnings.begin(), plan.linking.warnings.end());
  return warnings;
}

}  // namespace

Plan plan_run(const Context& context, const io::Snapshot& snapshot, const Options& options) {
  Plan plan;
  plan.snapshot = snapshot.info();
  choose_types(plan, options);
  plan.min_size = options.min_size;
  plan.membership = options.membership;
  plan.files = options.files;
  plan.ranks = app::survey_ranks(context, options.exec.processor == Processor::automatic);
  plan.output = options.output;
  check_names(context.comm, files_of(plan.snapshot, options), plan.warnings);
  plan.box = app::choose_box(plan.snapshot, options);
  plan.wrap_all = options.wrap_all;
  const ScopedTimer timer(context.timers, "masses");
  const MassSummary masses = io::summarise_masses(context.comm, snapshot, plan.link_types);
  plan.num_linked = masses.count;
  plan.linking = choose_linking(plan, options, masses);
  io::check_readable(plan.snapshot, all_types(plan.link_types, plan.attach), {});
  plan.double_positions = app::needs_double(plan.snapshot, all_types(plan.link_types, plan.attach));
  plan.estimate = estimate_needs(plan);
  plan.warnings = warnings_of(plan);
  app::warn_of_memory(context,
                      {static_cast<double>(plan.estimate.memory_per_rank),
                       fmt::format("{} particles", plan.num_particles()), "use more machines"},
                      plan.warnings);
  app::check_device_need(context, device_need(plan), options.dry_run, plan.warnings);
  return plan;
}

namespace {

// What a run needs of a device: the calls of run.cpp, one after the other.

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
