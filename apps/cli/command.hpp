/// What the main functions of all commands do: ranks, signals, and what went wrong as words and as
/// the status of the process.
#pragma once

#include <functional>
#include <string>
#include <variant>

#include "apps/cli/options.hpp"
#include "apps/cli/process.hpp"
#include "zhalo/comm/context.hpp"

namespace zhalo::app {

/// How the process came to be, for a command's body.
struct Launch {
  const char* command = "";  ///< its name, with which messages begin
  bool by_launcher = false;  ///< mpirun or srun
};

/// Runs `body`, which is collective over all ranks; returns the status for main: 0, 1 for an
/// internal error, 2 for one of input, files, devices or memory, 3 for lost ranks, 130 after a
/// signal. Rank 0 says what it was, once for all.
int run_command(const char* name, int argc, char** argv,
                const std::function<void(Context&, const Launch&)>& body);

/// What a rank does.
using RankWork = std::function<void(const Context&, Progress&)>;

/// Chooses where to compute and runs `work` with timers that show their phases and heed signals: on
/// the ranks of `context`, or on a thread for each of several devices of this process. Collective.
void run_with_progress(Context& context, const Launch& launch, const RunOptions& options,
                       const RankWork& work);

/// A command's main(): prints the text that parse(argc, argv) gives instead of options, or calls
/// run(context, options, progress), which is collective.
template <class Parse, class Run>
int run_main(const char* name, int argc, char** argv, const Parse& parse, const Run& run) {
  return run_command(name, argc, argv, [&](Context& context, const Launch& launch) {
    const auto request = parse(argc, argv);
    if (const auto* text = std::get_if<std::string>(&request)) {
      if (context.comm.rank() == 0) put(*text);
      return;
    }
    auto options = std::get<0>(request);
    options.command = name;
    options.command_line.assign(argv, argv + argc);
    run_with_progress(context, launch, options, [&](const Context& ranks, Progress& progress) {
      run(ranks, options, progress);
    });
  });
}

}  // namespace zhalo::app
