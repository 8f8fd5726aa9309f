/// knn SNAPSHOT: the k nearest neighbours of a snapshot's particles, and what follows from them.

#include <string>

#include "apps/cli/command.hpp"
#include "apps/knn/knn.hpp"
#include "apps/report/results.hpp"

namespace zhalo::knn_app {
namespace {

void run(const Context& context, const Options& options, app::Progress& progress) {
  app::RequestedRun run(context.comm, options, progress);
  const Sources sources = open_sources(context, options);
  const Plan plan = plan_run(context, sources, options);
  const std::string& folder = plan.output.directory;
  app::run_planned(
      run, plan_report(plan, run.is_verbose()), [&] { app::check_directory(context.comm, folder); },
      [&] { return io::StagedFiles(context.comm, folder); },
      [&](io::StagedFiles& files, app::Report& report) {
        Result result = find_neighbours(context, sources, plan, files);
        app::conclude(context, progress, report, result);
        return result_rows(plan, result, run.is_verbose());
      });
}

}  // namespace
}  // namespace zhalo::knn_app

int main(int argc, char** argv) {
  return zhalo::app::run_main("knn", argc, argv, zhalo::knn_app::parse_options,
                              zhalo::knn_app::run);
}
