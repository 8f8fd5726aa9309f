/// The command line's words and their meaning.
#pragma once

#include "apps/common/words.hpp"
#include "apps/fof/options.hpp"

namespace zhalo::fof_app {

/// What is on the command line, before it is understood.
struct Words : app::CommonWords {
  std::string mean_separation = "auto";
  std::string link_types = "1";
  std::string attach_types;
  std::string min_counts = "all";
  std::optional<std::string> attach_radius;
  std::optional<double> linking_ratio;
};

/// Turns words into options and checks all of these. Throws InputError.
void understand(const Words& words, Options& options);

}  // namespace zhalo::fof_app
