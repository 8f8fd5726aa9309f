#include <fmt/format.h>
#include <filesystem>

#include "apps/cli/run_files.hpp"
#include "apps/cli/snapshot.hpp"
#include "apps/fof/run.hpp"

namespace zhalo::fof_app {
namespace {

/// The names that io::write_catalogue and io::write_membership give their files.
app::RunFiles files_of(const io::SnapshotInfo& snapshot, const Options& options) {
  const std::string number = fmt::format("{:03d}", snapshot.number);
  const std::filesystem::path folder = options.output;
  return {snapshot.files,
          {{folder / ("groups_" + number), "fof_subhalo_tab_" + number},
           {folder, "membership_" + number}},
          {{"--json", options.json}}};
}

std::vector<std::string> warnings_of(const Plan& plan) {
  std::vector<std::string> warnings = plan.snapshot.warnings;
  warnings.insert(warnings.end(), plan.linking.warnings.begin(), plan.linking.warnings.end());
  return warnings;
}

}  // namespace

Plan plan_run(const Context& context, const io::Snapshot& snapshot, const Options& options) {
  Plan plan;
  plan.snapshot = snapshot.info();
  plan.link_types = options.link_types;
  plan.attach = options.attach;
  plan.min_size = options.min_size;
  plan.membership = options.membership;
  plan.files = options.files;
  plan.ranks = app::survey_ranks(context, options.place.processor == Processor::automatic);
  plan.output = options.output;
  check_names(context.comm, files_of(plan.snapshot, options));
  plan.box = app::choose_box(plan.snapshot, options);
  plan.wrap_all = options.wrap_all;
  const ScopedTimer timer(context.timers, "masses");
  const io::MassSummary masses = io::summarise_masses(context.comm, snapshot, options.link_types);
  plan.num_linked = masses.count;
  for (const int type : plan.attach.types)
    plan.num_attachable += plan.snapshot.types[static_cast<std::size_t>(type)].count;
  plan.linking = choose_linking(plan.snapshot, options, masses, plan.box);
  plan.double_positions = app::needs_double(plan.snapshot, all_types(plan.link_types, plan.attach));
  plan.estimate = estimate_needs(plan);
  plan.warnings = warnings_of(plan);
  return plan;
}

}  // namespace zhalo::fof_app
