/// fof SNAPSHOT: friends-of-friends groups of a snapshot, as a catalogue.

#include <string>
#include <vector>

#include "apps/cli/command.hpp"
#include "apps/cli/run_files.hpp"
#include "apps/cli/snapshot.hpp"
#include "apps/fof/fof.hpp"
#include "apps/report/results.hpp"

namespace zhalo::fof_app {
namespace {

void run(const Context& context, const Options& options, app::Progress& progress) {
  const bool verbose = options.verbosity == app::Verbosity::verbose;
  app::JsonFile json(context.comm, options.json);
  const std::vector<int> types = all_types(options.link_types, options.attach);
  const io::Snapshot snapshot =
      app::open_snapshot(context, options.snapshot, options.box_length, types);
  const Plan plan = plan_run(context, snapshot, options);
  app::Report report = plan_report(plan, verbose);
  app::say_plan(progress, report, verbose);
  if (options.dry_run) {
    app::check_place(context.comm, options.output);
    return app::end_dry_run(progress, json, report, verbose);
  }
  io::StagedFiles files(context.comm, options.output);
  Result result = find_groups(context, snapshot, plan, files);
  result.seconds = progress.seconds();
  for (const std::string& warning : result.warnings) {
    progress.warn(warning);
    report.warnings.push_back(warning);
  }
  report.result = result_rows(plan, result, verbose);
  app::end_run(progress, json, report, {{&files}, {}});
}

}  // namespace
}  // namespace zhalo::fof_app

int main(int argc, char** argv) {
  return zhalo::app::run_main("fof", argc, argv, zhalo::fof_app::parse_options,
                              zhalo::fof_app::run);
}
