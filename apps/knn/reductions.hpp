/// What there is to know about the reductions that the command offers.
#pragma once

#include <array>
#include <string>

#include "apps/knn/options.hpp"
#include "zhalo/io/result_file.hpp"

namespace zhalo::knn_app {

struct QuantityTraits {
  Quantity quantity;
  const char* word;     ///< on the command line
  const char* dataset;  ///< in the files
  bool needs_masses = false;
  bool needs_velocities = false;
};

const std::array<QuantityTraits, 4>& all_reductions();
const QuantityTraits& traits_of(Quantity quantity);

/// How it scales, and its definition.
io::Meaning meaning_of(Quantity quantity);

/// "cubic spline", "Wendland C2", "Wendland C4".
std::string name_of(SphKernel kernel);

bool any_needs_masses(const Options& options);
bool any_needs_velocities(const Options& options);

}  // namespace zhalo::knn_app
