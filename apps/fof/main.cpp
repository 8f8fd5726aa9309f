/// fof SNAPSHOT: friends-of-friends groups of a snapshot, as a catalogue.

#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <variant>

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
constexpr int exit_ranks_lost = 3;
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

/// Does what the command line says, or its text. Collective.
void start(Context& context, bool launched, const std::variant<Options, std::string>& request) {
  const bool first = context.comm.rank() == 0;
  if (const auto* text = std::get_if<std::string>(&request)) {
    if (first) put(*text);
    return;
  }
  const auto& options = std::get<Options>(request);
  Progress progress(first && options.verbosity != Verbosity::quiet, launched);
  Timers timers;
  timers.observe([&](const std::string& phase) {
    check_interrupted();
    progress.begin(phase);
  });
  context.timers = &timers;
  context.exec = choose_exec(context.comm, options.place);
  run(context, options, progress);
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
  } catch (const CommunicationError& error) {
    return {exit_ranks_lost, error.what()};
  } catch (const std::exception& error) {
    return {exit_internal_error, fmt::format("internal error: {}", error.what())};
  }
}

void tell(const Failure& failure) { fmt::print(stderr, "fof: error: {}\n", failure.message); }

/// For when some ranks are gone or hang: MPI_Finalize would wait for them. A rank that has something else to tell than that it
/// waited tells it at once. Of those that waited in vain the lowest speaks first and ends them all; the others speak only if they
/// are still there after a while.
void end_without_agreement(const MpiSession& mpi, const Failure& failure) {
  using std::chrono::seconds;
  release_interrupts();  // the launcher ends the others by signals
  if (failure.status == exit_ranks_lost) std::this_thread::sleep_for(seconds(1) + seconds(2) * std::min(mpi.rank(), 3));
  tell(failure);
  mpi.end_all(failure.status);
  std::_Exit(failure.status);
}

}  // namespace

int guarded_main(int argc, char** argv) {
  const MpiSession mpi(&argc, &argv);
  Context context;
  try {
    CommunicatorOptions options;
    options.observer = [](const char*) { check_interrupted(); };
    context.comm = mpi.communicator(options);
    catch_interrupts();
    // One rank's exception is everybody's: all leave with the same status, and rank 0 speaks for all.
    context.comm.together([&] { start(context, mpi.is_active(), parse_options(argc, argv)); });
    return 0;
  } catch (...) {
    const Failure failure = describe_current_exception();
    // A broken communicator has spread nothing: rank 0 may know of nothing, or wait.
    if (failure.status == exit_ranks_lost || context.comm.is_broken()) end_without_agreement(mpi, failure);
    if (mpi.rank() == 0) tell(failure);
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
