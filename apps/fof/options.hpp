/// What the user asked `fof` for.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "apps/common/options.hpp"
#include "zhalo/io/mean_separation.hpp"

namespace zhalo::fof_app {

struct Options : app::CommonOptions {
  double linking_ratio = 0.2;            ///< in units of the mean separation
  std::optional<double> linking_length;  ///< instead of the ratio, in the snapshot's length unit
  io::MeanSeparationRequest mean_separation;
  Index min_size = 32;
  std::vector<int> link_types{1};
  std::string output = "fof_output";
  bool membership = false;
};

/// The options, or a text (help, version) to print instead of running. Throws InputError for anything that makes no sense by itself.
std::variant<Options, std::string> parse_options(int argc, const char* const* argv);

}  // namespace zhalo::fof_app
