/// What the user asked `fof` for.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "apps/cli/options.hpp"
#include "zhalo/io/mean_separation.hpp"

namespace zhalo::fof_app {

/// What joins the groups of linked particles.
struct Attach {
  std::vector<int> types;          ///< none: nothing is attached
  double radius = 4;               ///< to the nearest linked particle, in linking lengths
  bool only_linked_count = false;  ///< for the smallest group
};

struct Options : app::CommonOptions {
  double linking_ratio = 0.2;            ///< in units of the mean separation
  std::optional<double> linking_length;  ///< instead of the ratio, in the snapshot's length unit
  io::MeanSeparationRequest mean_separation;
  Index min_size = 32;
  std::vector<int> link_types{1};
  Attach attach;
  std::string output = "fof_output";
  bool membership = false;
};

/// Linked and attached ones.
std::vector<int> all_types(const std::vector<int>& link_types, const Attach& attach);

/// The options, or a text (help, version) to print instead of running. Throws InputError for
/// anything that makes no sense by itself.
std::variant<Options, std::string> parse_options(int argc, const char* const* argv);

}  // namespace zhalo::fof_app
