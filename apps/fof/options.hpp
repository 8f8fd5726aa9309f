/// What the user asked `fof` for.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "zhalo/comm/place.hpp"
#include "zhalo/io/catalogue_file.hpp"
#include "zhalo/io/mean_separation.hpp"
#include "zhalo/io/snapshot_info.hpp"

namespace zhalo::fof_app {

enum class Verbosity { quiet, normal, verbose };

struct Options {
  std::string snapshot;
  double linking_ratio = 0.2;            ///< in units of the mean separation
  std::optional<double> linking_length;  ///< instead of the ratio, in the snapshot's length unit
  io::MeanSeparationRequest mean_separation;
  Index min_size = 32;
  std::vector<int> link_types{1};
  io::Periodicity periodicity = io::Periodicity::automatic;
  std::optional<double> box_length;
  std::string output = "fof_output";
  bool membership = false;
  io::WriteOptions files;
  PlaceRequest place;
  bool dry_run = false;
  std::string json;  ///< empty: none; "-": standard output
  Verbosity verbosity = Verbosity::normal;
};

/// The options, or a text (help, version) to print instead of running. Throws InputError for anything that makes no sense by itself.
std::variant<Options, std::string> parse_options(int argc, const char* const* argv);

}  // namespace zhalo::fof_app
