/// What the user asked `ics` for.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "apps/cli/options.hpp"
#include "zhalo/ics/initial_conditions.hpp"

namespace zhalo::ics_app {

constexpr Index max_cells = 1000000;  ///< along an axis

struct Options : app::RunOptions {
  Index num = 0;   ///< particles along each axis
  double box = 0;  ///< Mpc/h
  double redshift = 49;
  EisensteinHu cosmology{};  ///< without a table, also the spectrum's shape
  double omega_lambda = 0;   ///< flat unless given
  std::string power;         ///< table of the linear spectrum, or empty
  bool normalised = true;    ///< to cosmology.sigma8
  RandomFieldOptions random{};
  int lpt = 2;
  bool double_precision = false;
  std::string output;

  Expansion expansion() const { return {cosmology.omega_matter, omega_lambda}; }
  double scale_factor() const { return 1 / (1 + redshift); }
};

/// The options, or a text (help, version) to print instead of running. Throws InputError for
/// anything that makes no sense by itself.
std::variant<Options, std::string> parse_options(int argc, const char* const* argv);

}  // namespace zhalo::ics_app
