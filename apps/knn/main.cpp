/// knn SNAPSHOT: the k nearest neighbours of a snapshot's particles, and what follows from them.

#include <string>

#include "apps/cli/command.hpp"
#include "apps/knn/knn.hpp"
#include "apps/report/results.hpp"

namespace zhalo::knn_app {
namespace {

void run(const Context& context, const Options& options, app::Progress& progress) {
  const bool verbose = options.verbosity == app::Verbosity::verbose;
  app::JsonFile json(context.comm, options.json);
  const Sources sources = open_sources(context, options);
  const Plan plan = plan_run(context, sources, options);
  app::Report report = plan_report(plan, verbose);
  app::say_plan(progress, report, verbose);
  if (options.dry_run) {
    app::check_place(context.comm, plan.output.directory);
    return app::end_dry_run(progress, json, report, verbose);
  }
  io::StagedFiles files(context.comm, plan.output.directory);
  Result result = find_neighbours(context, sources, plan, files);
  result.seconds = progress.seconds();
  report.result = result_rows(plan, result, verbose);
  app::end_run(progress, json, report, {{&files}, {}});
}

}  // namespace
}  // namespace zhalo::knn_app

int main(int argc, char** argv) {
  return zhalo::app::run_main("knn", argc, argv, zhalo::knn_app::parse_options,
                              zhalo::knn_app::run);
}
