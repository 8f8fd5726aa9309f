/// fof SNAPSHOT: friends-of-friends groups of a snapshot, as a catalogue.

#include <fmt/format.h>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "apps/fof/interrupt.hpp"
#include "apps/fof/json_report.hpp"
#include "apps/fof/process.hpp"
#include "apps/fof/progress.hpp"
#include "apps/fof/report.hpp"
#include "apps/fof/run.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::fof_app {
namespace {

constexpr int exit_user_error = 2;
constexpr int exit_internal_error = 1;
constexpr int exit_interrupted = 130;

void warn(const Summary& summary) {
  for (const std::string& warning : summary.linking.warnings) fmt::print(stderr, "fof: warning: {}\n", warning);
}

void run(const Context& context, const Options& options, Progress& progress) {
  const bool speaks = context.comm.rank() == 0 && options.verbosity != Verbosity::quiet;
  const bool verbose = options.verbosity == Verbosity::verbose;
  const auto say = [&](const std::string& text) {
    progress.clear();
    if (speaks) put(text);
  };
  JsonReport json(context.comm, options.json);
  const io::Snapshot snapshot = open_snapshot(context, options);
  Summary summary = plan_run(context, snapshot, options);
  say(plan_text(summary, verbose));
  if (speaks) warn(summary);
  if (options.dry_run) {
    say(verbose ? "" : estimate_text(summary));
    return json.write(summary);
  }
  io::StagedFiles files(context.comm, options.output);
  summary.found = find_groups(context, snapshot, summary, files);
  summary.found->seconds = progress.seconds();
  json.write(summary);
  say(result_text(summary, verbose));
}

/// Does what the command line says; all ranks return, or all throw the same.
void start(Communicator world, int argc, char** argv) {
  const auto request = parse_options(argc, argv);
  if (const auto* text = std::get_if<std::string>(&request)) {
    if (world.rank() == 0) put(*text);
    return;
  }
  const auto& options = std::get<Options>(request);
  if (world.size() > 1) {
    throw InputError(fmt::format(
        "started on {} ranks, and the search runs on one; start one process (--threads sets its threads)", world.size()));
  }
  Progress progress(world.rank() == 0 && options.verbosity != Verbosity::quiet);
  Timers timers;
  timers.observe([&](const std::string& phase) {
    check_interrupted();
    progress.begin(phase);
  });
  catch_interrupts();
  run({std::move(world), choose_exec(options), &timers}, options, progress);
}

/// Status of the process for what went wrong, and the words for it.
struct Failure {
  int status = 0;
  std::string message;
};

Failure describe_current_exception() {
  try {
    throw;
  } catch (const InputError& error) {
    return {exit_user_error, error.what()};
  } catch (const FileError& error) {
    return {exit_user_error, error.what()};
  } catch (const DeviceError& error) {
    return {exit_user_error, error.what()};
  } catch (const OutOfMemory& error) {
    return {exit_user_error, error.what()};
  } catch (const Interrupted& error) {
    return {exit_interrupted, error.what()};
  } catch (const std::exception& error) {
    return {exit_internal_error, fmt::format("internal error: {}", error.what())};
  }
}

}  // namespace

int guarded_main(int argc, char** argv) {
  const MpiSession mpi(&argc, &argv);
  int rank = 0;
  try {
    Communicator world = mpi.communicator();
    rank = world.rank();
    start(std::move(world), argc, argv);
    return 0;
  } catch (...) {
    const Failure failure = describe_current_exception();
    if (rank == 0) fmt::print(stderr, "fof: error: {}\n", failure.message);
    return failure.status;
  }
}

}  // namespace zhalo::fof_app

int main(int argc, char** argv) {
  const int status = zhalo::fof_app::guarded_main(argc, argv);
  // HDF5 tries at the exit to close what it could not close before, as when there is no room for a file, and may crash: skipped.
  if (status != 0) std::_Exit(status);
  return status;
}
