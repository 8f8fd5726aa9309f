/// The options that all commands share, as given and checked; and the snapshot that a command works
/// on, with its box.
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
#include "zhalo/domain/particles.hpp"
#include "zhalo/io/load.hpp"
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
  std::string output_folder{};   ///< of -o, made if it is missing; empty: the current one
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

/// The folder of a file; empty if it is the current one.
std::string folder_of(const std::string& path);

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

// The snapshot that a command works on, and its box.

/// `box_length`: the user's word, if any. Collective.
io::Snapshot open_snapshot(const Context& context, const std::string& path,
                           std::optional<double> box_length);

/// Those of the types of `option` that the snapshot has particles of, and a warning for each other
/// one: early snapshots have neither stars nor black holes, and one command should do for all.
/// Throws InputError as io::check_types, but not if there are none of any.
std::vector<int> types_with_particles(const io::SnapshotInfo& info, const char* option,
                                      const std::vector<int>& types,
                                      std::vector<std::string>& warnings);

/// The same, where there must be some: InputError if there are none of any.
std::vector<int> present_types(const io::SnapshotInfo& info, const char* option,
                               const std::vector<int>& types, std::vector<std::string>& warnings);

/// The box to search in. A size that the user gave bounds the particles also without periodicity.
/// Throws InputError as io::simulation_box.
Box choose_box(const io::SnapshotInfo& info, const CommonOptions& options);

/// A few positions outside a periodic box are rounding, many are a wrong box: InputError then,
/// unless the user takes them in (CommonOptions::wrap_all). The counts are over all ranks; `what`
/// was counted.
void check_wrapped(const PositionCounts& counts, const Box& box, bool wrap_all,
                   const std::string& what = "particles");

/// Particles of these types.
Index count_of(const io::SnapshotInfo& info, const std::vector<int>& types);

/// Bytes of a particle's columns as they are read, on the mean over the particles of some types.
struct ColumnBytes {
  double position = 0;
  double velocity = 0;  ///< of the types that have any
  double mass = 0;      ///< of the types whose particles have masses of their own
  double id = 0;

  double all() const { return position + velocity + mass + id; }
};
ColumnBytes bytes_read(const io::SnapshotInfo& info, const std::vector<int>& types,
                       bool double_positions);

/// float cannot hold the positions of some of the types.
bool needs_double(const io::SnapshotInfo& info, const std::vector<int>& types);

}  // namespace zhalo::app
