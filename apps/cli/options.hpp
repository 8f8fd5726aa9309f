/// What the users of all commands can ask for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "zhalo/comm/affinity.hpp"
#include "zhalo/io/catalogue_file.hpp"
#include "zhalo/io/snapshot_info.hpp"

namespace zhalo::app {

enum class Verbosity { quiet, normal, verbose };

/// Of any command.
struct RunOptions {
  io::WriteOptions files;
  ExecRequest place;
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

}  // namespace zhalo::app
