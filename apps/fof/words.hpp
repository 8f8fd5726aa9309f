/// The command line's words and their meaning.
#pragma once

#include "apps/fof/options.hpp"

namespace zhalo::fof_app {

/// What is on the command line, before it is understood.
struct Words {
  std::string mean_separation = "auto";
  std::string periodic = "auto";
  std::string device = "auto";
  std::string link_types = "1";
  std::optional<double> linking_ratio;
  std::optional<int> threads;
  bool quiet = false;
  bool verbose = false;
  bool version = false;
};

/// Turns words into options and checks all of these. Throws InputError.
void understand(const Words& words, Options& options);

}  // namespace zhalo::fof_app
