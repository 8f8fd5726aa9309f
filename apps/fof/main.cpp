/// fof SNAPSHOT: friends-of-friends groups of a snapshot, as a catalogue.

#include "apps/cli/command.hpp"
#include "apps/cli/run_files.hpp"
#include "apps/cli/snapshot.hpp"
#include "apps/fof/fof.hpp"
#include "apps/report/results.hpp"

namespace zhalo::fof_app {
namespace {

void run(const Context& context, const Options& options, app::Progress& progress) {
  app::RequestedRun run(context.comm, options, progress);
  const io::Snapshot snapshot = app::open_snapshot(context, options.snapshot, options.box_length);
  const Plan plan = plan_run(context, snapshot, options);
  app::run_planned(
      run, plan_report(plan, run.is_verbose()),
      [&] { app::check_directory(context.comm, options.output); },
      [&] { return io::StagedFiles(context.comm, options.output); },
      [&](io::StagedFiles& files, app::Report& report) {
        Result result = find_groups(context, snapshot, plan, files);
        app::conclude(context, progress, report, result);
        return result_rows(plan, result, run.is_verbose());
      });
}

}  // namespace
}  // namespace zhalo::fof_app

int main(int argc, char** argv) {
  return zhalo::app::run_main("fof", argc, argv, zhalo::fof_app::parse_options,
                              zhalo::fof_app::run);
}
