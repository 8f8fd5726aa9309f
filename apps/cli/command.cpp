#include "apps/cli/command.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "apps/cli/process.hpp"
#include "zhalo/comm/threads.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::app {
namespace {

constexpr int exit_user_error = 2;
constexpr int exit_internal_error = 1;
constexpr int exit_interrupted = 130;

/// Status of the process for what went wrong, and the words for it.
struct Failure {
  int status = 0;
  std::string message;
};

Failure describe_current_exception() {
  const CaughtError caught = caught_error();
  switch (caught.kind) {
    case ErrorKind::input:
    case ErrorKind::file:
    case ErrorKind::memory:
    case ErrorKind::device: return {exit_user_error, caught.message()};
    case ErrorKind::communication: return {exit_ranks_lost, caught.message()};
    case ErrorKind::interrupted: return {exit_interrupted, caught.message()};
    default: return {exit_internal_error, fmt::format("internal error: {}", caught.text)};
  }
}

void tell(const char* command, const Failure& failure) {
  put(fmt::format("{}: error: {}\n", command, in_one_line(failure.message)), stderr);
}

/// For when some ranks are gone or hang: MPI_Finalize would wait for them. A rank that has
/// something else to tell than that it waited tells it at once. Of those that waited in vain the
/// lowest speaks first and ends them all; the others speak only if they are still there after a
/// while.
void end_without_agreement(const char* command, const MpiSession& mpi, const Failure& failure) {
  using std::chrono::seconds;
  release_interrupts();  // the launcher ends the others by signals
  if (failure.status == exit_ranks_lost)
    std::this_thread::sleep_for(seconds(1) + seconds(2) * std::min(mpi.rank(), 3));
  tell(command, failure);
  mpi.end_all(failure.status);
  std::_Exit(failure.status);
}

int run_guarded(const char* name, int argc, char** argv,
                const std::function<void(Context&, const Launch&)>& body) {
  keep_standard_streams();
  take_failed_writes_as_errors();
  MpiSession mpi(&argc, &argv);
  Context context;
  try {
    CommunicatorOptions options;
    options.observer = [](const char*) { check_interrupted(); };
    context.comm = mpi.communicator(options);
    catch_interrupts();
    // One rank's exception is everybody's: all leave with the same status, and rank 0 speaks for
    // all.
    context.comm.together([&] { body(context, {name, mpi.is_active()}); });
    mpi.finish(name, std::move(context.comm), 0);
    return 0;
  } catch (...) {
    const Failure failure = describe_current_exception();
    // A broken communicator has spread nothing: rank 0 may know of nothing, or wait.
    if (failure.status == exit_ranks_lost || context.comm.is_broken())
      end_without_agreement(name, mpi, failure);
    if (mpi.rank() == 0) tell(name, failure);
    mpi.finish(name, std::move(context.comm), failure.status);
    return failure.status;
  }
}

}  // namespace

int run_command(const char* name, int argc, char** argv,
                const std::function<void(Context&, const Launch&)>& body) {
  const int status = run_guarded(name, argc, argv, body);
  // HDF5 tries at the exit to close what it could not close before, as when there is no room for a
  // file, and may crash: skipped.
  if (status != 0) std::_Exit(status);
  return status;
}

namespace {

/// One rank of `context`, which knows where it computes.
void run_rank(Context& context, const Launch& launch, const RunOptions& options,
              const RankWork& work) {
  Progress progress({.command = launch.command,
                     .speaks = context.comm.rank() == 0,
                     .quiet = options.verbosity == Verbosity::quiet,
                     .launched = launch.by_launcher,
                     .to_errors = options.output_is_taken});
  Timers timers;
  timers.observe([&](const std::string& phase) {
    check_interrupted();
    progress.begin(phase);
  });
  context.timers = &timers;
  work(context, progress);
}

std::vector<int> devices_of(const Context& context, const DevicesTogether& wanted) {
  if (context.comm.size() > 1)
    throw InputError(
        fmt::format("--devices is for one process, but mpirun or srun has started {}: leave it "
                    "out, and each takes a device by itself",
                    context.comm.size()));
  return wanted.all ? all_devices() : wanted.numbers;
}

}  // namespace

void run_with_progress(Context& context, const Launch& launch, const RunOptions& options,
                       const RankWork& work) {
  ExecRequest exec = options.exec;
  if (options.devices.are_wanted()) {
    const std::vector<int> devices = devices_of(context, options.devices);
    if (devices.size() > 1) {
      CommunicatorOptions of_threads;
      of_threads.transport = options.transport;
      of_threads.observer = [](const char*) { check_interrupted(); };
      return run_on_devices(
          devices, [&](Context& rank) { run_rank(rank, launch, options, work); }, of_threads);
    }
    exec.device = devices.front();
  }
  context.comm.use_transport(options.transport);
  context.exec = choose_exec(context.comm, exec);
  run_rank(context, launch, options, work);
}

}  // namespace zhalo::app
