/// ics --num N --box L: a snapshot of initial conditions.

#include <string>

#include "apps/cli/command.hpp"
#include "apps/ics/ics.hpp"
#include "apps/report/results.hpp"

namespace zhalo::ics_app {
namespace {

void run(const Context& context, const Options& options, app::Progress& progress) {
  const bool verbose = options.verbosity == app::Verbosity::verbose;
  app::JsonFile json(context.comm, options.json);
  const Plan plan = plan_run(context, options);
  app::Report report = plan_report(plan, verbose);
  app::say_plan(progress, report, verbose);
  if (options.dry_run) {
    app::check_place(context.comm, plan.output.directory);
    return app::end_dry_run(progress, json, report, verbose);
  }
  io::StagedFiles files(context.comm, plan.output.directory);
  Result result = make_particles(context, plan, files);
  result.seconds = progress.seconds();
  report.result = result_rows(plan, result);
  app::end_run(progress, json, report, {{&files}, {}});
}

}  // namespace
}  // namespace zhalo::ics_app

int main(int argc, char** argv) {
  return zhalo::app::run_main("ics", argc, argv, zhalo::ics_app::parse_options,
                              zhalo::ics_app::run);
}
