/// The options that all commands share: as given, and checked.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/cli/command_line.hpp"
#include "zhalo/comm/context.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/io/snapshot.hpp"
#include "zhalo/io/staged_files.hpp"

namespace zhalo::app {

/// Several devices of this process that compute together, each by a thread that is a rank.
struct DevicesTogether {
  bool all = false;
  std::vector<int> numbers;  ///< otherwise; empty: none, the process is one rank

  bool are_wanted() const { return all || !numbers.empty(); }
};

enum class Verbosity { quiet, normal, verbose };

/// Of any command.
struct RunOptions {
  std::string command;                    ///< its name
  std::vector<std::string> command_line;  ///< as it was given, the program first
  io::WriteOptions files;
  ExecRequest exec;
  DevicesTogether devices;
  Transport transport = Transport::automatic;
  bool dry_run = false;
  std::string json;              ///< empty: none; "-": standard output
  bool output_is_taken = false;  ///< a result goes to standard output: what else there is to say
                                 ///< goes to standard error
  Verbosity verbosity = Verbosity::normal;
};

/// Of those that work on a snapshot.
struct CommonOptions : RunOptions {
  std::string snapshot;
  io::Periodicity periodicity = io::Periodicity::automatic;
  std::optional<double> box_length;
  bool wrap_all = false;  ///< also where so many particles lie outside the box that it seems wrong
};

/// What is on the command line, not checked yet.
struct RawRunOptions {
  std::string device = "auto";
  std::string transport = "auto";
  std::optional<int> threads;
  bool quiet = false;
  bool verbose = false;
  bool version = false;
};

struct RawCommonOptions : RawRunOptions {
  std::string periodic = "auto";
};

/// The snapshot, the one word that needs no option.
void add_snapshot(CommandLine& command, CommonOptions& options);
/// --periodic and --box-size.
void add_box_options(CommandLine& command, CommonOptions& options, RawCommonOptions& raw);
/// --files to --version. `dry_run`: what the command's dry run does.
void add_run_options(CommandLine& command, RunOptions& options, RawRunOptions& raw,
                     const std::string& dry_run);

/// Reads the command line. Returns a text to print instead of running, for --help and --version.
/// InputError.
std::optional<std::string> read_options(CommandLine& command, const RawRunOptions& raw, int argc,
                                        const char* const* argv);

/// Turns what was given into options and checks all of these. Throws InputError.
void resolve_run(const RawRunOptions& raw, RunOptions& options);
/// `name`: the command's.
void resolve_common(const RawCommonOptions& raw, const std::string& name, CommonOptions& options);

/// Throws InputError with the message unless `good`.
void demand(bool good, const std::string& message);

/// Finite and more than zero.
bool is_positive(double value);

/// "1" or "0,1,4"; `option` is for the message.
std::vector<int> parse_types(const char* option, const std::string& list);

/// The value that a word stands for.
template <class T>
T choice(const char* option, const std::string& word,
         const std::vector<std::pair<const char*, T>>& choices) {
  std::vector<const char*> known;
  for (const auto& [text, value] : choices) {
    if (word == text) return value;
    known.push_back(text);
  }
  throw InputError(fmt::format("{} is '{}' (must be {})", option, word, fmt::join(known, ", ")));
}

}  // namespace zhalo::app
