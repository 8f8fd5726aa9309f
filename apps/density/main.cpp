/// density SNAPSHOT: the density field of a snapshot on a grid, its power spectrum, and a picture.

#include <string>

#include "apps/cli/command.hpp"
#include "apps/density/density.hpp"

namespace zhalo::density_app {
namespace {

void run(const Context& context, const Options& options, app::Progress& progress) {
  const bool verbose = options.verbosity == app::Verbosity::verbose;
  app::JsonFile json(context.comm, options.json);
  const Sources sources = open_sources(context, options);
  const Plan plan = plan_run(context, sources, options);
  app::Report report = plan_report(plan, verbose);
  app::say_plan(progress, report, verbose);
  if (options.dry_run) {
    check_outputs(context.comm, plan);
    return app::end_dry_run(progress, json, report, verbose);
  }
  Outputs outputs(context.comm, plan);
  Result result = make_density(context, sources, plan, outputs);
  result.seconds = progress.seconds();
  report.result = result_rows(plan, result);
  app::end_run(progress, json, report, outputs.results());
}

}  // namespace
}  // namespace zhalo::density_app

int main(int argc, char** argv) {
  return zhalo::app::run_main("density", argc, argv, zhalo::density_app::parse_options,
                              zhalo::density_app::run);
}
