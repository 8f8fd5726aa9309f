/// fof SNAPSHOT: friends-of-friends groups of a snapshot, as a catalogue.

#include <string>
#include <vector>

#include "apps/cli/command.hpp"
#include "apps/cli/run_files.hpp"
#include "apps/cli/snapshot.hpp"
#include "apps/fof/report.hpp"
#include "apps/fof/run.hpp"
#include "apps/report/json_file.hpp"
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
  progress.say(plan_text(plan, verbose));
  for (const std::string& warning : plan.warnings) progress.warn(warning);
  if (options.dry_run) {
    app::check_place(context.comm, options.output);
    progress.say(verbose ? "" : estimate_text(plan));
    return json.write(to_json(plan, nullptr));
  }
  io::StagedFiles files(context.comm, options.output);
  Result result = find_groups(context, snapshot, plan, files);
  result.seconds = progress.seconds();
  for (const std::string& warning : result.warnings) progress.warn(warning);
  json.put(to_json(plan, &result));
  app::commit({{&files}, {&json}});
  progress.say(result_text(plan, result, verbose));
}

}  // namespace
}  // namespace zhalo::fof_app

int main(int argc, char** argv) {
  return zhalo::app::run_main("fof", argc, argv, zhalo::fof_app::parse_options,
                              zhalo::fof_app::run);
}
