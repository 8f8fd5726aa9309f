/// ics --num N --box L: a snapshot of initial conditions.

#include <string>

#include "apps/cli/command.hpp"
#include "apps/ics/report.hpp"
#include "apps/ics/run.hpp"
#include "apps/report/json_file.hpp"
#include "apps/report/results.hpp"

namespace zhalo::ics_app {
namespace {

void run(const Context& context, const Options& options, app::Progress& progress) {
  const bool verbose = options.verbosity == app::Verbosity::verbose;
  app::JsonFile json(context.comm, options.json);
  const Plan plan = plan_run(context, options);
  progress.say(plan_text(plan, verbose));
  for (const std::string& warning : plan.warnings) progress.warn(warning);
  if (options.dry_run) {
    app::check_place(context.comm, plan.output.directory);
    progress.say(verbose ? "" : estimate_text(plan));
    return json.write(to_json(plan, nullptr));
  }
  io::StagedFiles files(context.comm, plan.output.directory);
  Result result = make_particles(context, plan, files);
  result.seconds = progress.seconds();
  json.put(to_json(plan, &result));
  app::commit({{&files}, {&json}});
  progress.say(result_text(plan, result));
}

}  // namespace
}  // namespace zhalo::ics_app

int main(int argc, char** argv) {
  return zhalo::app::run_main("ics", argc, argv, zhalo::ics_app::parse_options,
                              zhalo::ics_app::run);
}
