/// ics --num N --box-size L: a snapshot of initial conditions.

#include <string>

#include "apps/cli/command.hpp"
#include "apps/ics/ics.hpp"
#include "apps/report/results.hpp"

namespace zhalo::ics_app {
namespace {

void run(const Context& context, const Options& options, app::Progress& progress) {
  app::RequestedRun run(context.comm, options, progress);
  const Plan plan = plan_run(context, options);
  const std::string& folder = plan.output.directory;
  app::run_planned(
      run, plan_report(plan, run.is_verbose()), [&] { app::check_directory(context.comm, folder); },
      [&] { return io::StagedFiles(context.comm, folder); },
      [&](io::StagedFiles& files, app::Report& report) {
        Result result = make_particles(context, plan, files);
        app::conclude(context, progress, report, result);
        return result_rows(plan, result);
      });
}

}  // namespace
}  // namespace zhalo::ics_app

int main(int argc, char** argv) {
  return zhalo::app::run_main("ics", argc, argv, zhalo::ics_app::parse_options,
                              zhalo::ics_app::run);
}
