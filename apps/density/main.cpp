/// density SNAPSHOT: the density field of a snapshot on a grid, its power spectrum, and a picture.

#include "apps/cli/command.hpp"
#include "apps/density/density.hpp"
#include "apps/report/results.hpp"

namespace zhalo::density_app {
namespace {

void run(const Context& context, const Options& options, app::Progress& progress) {
  app::RequestedRun run(context.comm, options, progress);
  const Sources sources = open_sources(context, options);
  const Plan plan = plan_run(context, sources, options);
  app::run_planned(
      run, plan_report(plan, run.is_verbose()), [&] { check_outputs(context.comm, plan); },
      [&] { return Outputs(context.comm, plan); },
      [&](Outputs& outputs, app::Report& report) {
        Result result = make_density(context, sources, plan, outputs);
        app::conclude(context, progress, report, result);
        return result_rows(plan, result);
      });
}

}  // namespace
}  // namespace zhalo::density_app

int main(int argc, char** argv) {
  return zhalo::app::run_main("density", argc, argv, zhalo::density_app::parse_options,
                              zhalo::density_app::run);
}
