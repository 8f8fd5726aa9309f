/// density SNAPSHOT: the density field of a snapshot on a grid, its power spectrum, and a picture.

#include <string>

#include "apps/cli/command.hpp"
#include "apps/density/report.hpp"
#include "apps/density/run.hpp"
#include "apps/report/json_file.hpp"

namespace zhalo::density_app {
namespace {

void run(const Context& context, const Options& options, app::Progress& progress) {
  const bool verbose = options.verbosity == app::Verbosity::verbose;
  app::JsonFile json(context.comm, options.json);
  const Sources sources = open_sources(context, options);
  const Plan plan = plan_run(context, sources, options);
  progress.say(plan_text(plan, verbose));
  for (const std::string& warning : plan.warnings) progress.warn(warning);
  if (options.dry_run) {
    check_outputs(context.comm, plan);
    progress.say(verbose ? "" : estimate_text(plan));
    return json.write(to_json(plan, nullptr));
  }
  Outputs outputs(context.comm, plan);
  Result result = make_density(context, sources, plan, outputs);
  result.seconds = progress.seconds();
  json.put(to_json(plan, &result));
  app::Results results = outputs.results();
  results.texts.push_back(&json);
  app::commit(results);
  progress.say(result_text(plan, result));
}

}  // namespace
}  // namespace zhalo::density_app

int main(int argc, char** argv) {
  return zhalo::app::run_main("density", argc, argv, zhalo::density_app::parse_options,
                              zhalo::density_app::run);
}
