/// What the user asked `knn` for.
#pragma once

#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "apps/cli/options.hpp"
#include "zhalo/knn/quantities.hpp"

namespace zhalo::knn_app {

struct Options : app::CommonOptions {
  int k = 32;
  std::vector<int> types{1};  ///< of the particles that are searched
  std::vector<Quantity> reductions;
  bool lists = true;
  SphKernel kernel = SphKernel::cubic_spline;
  bool include_self = true;
  double max_radius = std::numeric_limits<double>::infinity();  ///< in the snapshot's length unit
  std::string query;             ///< path, or empty: the particles themselves
  std::vector<int> query_types;  ///< empty: the same
  std::string output;            ///< empty: after the snapshot's number
};

/// The options, or a text (help, version) to print instead of running. Throws InputError for
/// anything that makes no sense by itself.
std::variant<Options, std::string> parse_options(int argc, const char* const* argv);

}  // namespace zhalo::knn_app
