/// knn SNAPSHOT: the k nearest neighbours of a snapshot's particles, and what follows from them.

#include <string>

#include "apps/cli/command.hpp"
#include "apps/knn/report.hpp"
#include "apps/knn/run.hpp"
#include "apps/report/json_file.hpp"
#include "apps/report/results.hpp"

namespace zhalo::knn_app {
namespace {

void run(const Context& context, const Options& options, app::Progress& progress) {
  const bool verbose = options.verbosity == app::Verbosity::verbose;
  app::JsonFile json(context.comm, options.json);
  const Sources sources = open_sources(context, options);
  const Plan plan = plan_run(context, sources, options);
  progress.say(plan_text(plan, verbose));
  for (const std::string& warning : plan.warnings) progress.warn(warning);
  if (options.dry_run) {
    app::check_place(context.comm, plan.output.directory);
    progress.say(verbose ? "" : estimate_text(plan));
    return json.write(to_json(plan, nullptr));
  }
  io::StagedFiles files(context.comm, plan.output.directory);
  Result result = find_neighbours(context, sources, plan, files);
  result.seconds = progress.seconds();
  json.put(to_json(plan, &result));
  app::commit({{&files}, {&json}});
  progress.say(result_text(plan, result, verbose));
}

}  // namespace
}  // namespace zhalo::knn_app

int main(int argc, char** argv) {
  return zhalo::app::run_main("knn", argc, argv, zhalo::knn_app::parse_options,
                              zhalo::knn_app::run);
}
