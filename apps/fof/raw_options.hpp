/// The command line's words and their meaning.
#pragma once

#include "apps/cli/raw_options.hpp"
#include "apps/fof/options.hpp"

namespace zhalo::fof_app {

/// What is on the command line, before it is understood.
struct RawOptions : app::RawCommonOptions {
  std::string mean_separation = "auto";
  std::string link_types = "1";
  std::string attach_types;
  std::string min_counts = "all";
  std::optional<std::string> attach_radius;
  std::optional<double> linking_ratio;
};

/// Turns words into options and checks all of these. Throws InputError.
void resolve(const RawOptions& words, Options& options);

}  // namespace zhalo::fof_app
