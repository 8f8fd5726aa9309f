/// What the user asked `density` for.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "apps/cli/options.hpp"
#include "zhalo/mesh/density.hpp"
#include "zhalo/mesh/power_spectrum.hpp"

namespace zhalo::density_app {

/// Cells along each axis, at most.
constexpr Index max_cells = Index{1} << 20;

constexpr const char* axis_names = "xyz";

/// The part of the box that a picture shows, seen along an axis; lengths in the snapshot's unit.
struct View {
  int axis = 2;
  double from = 0;
  std::optional<double> depth;  ///< none: the whole box
};

struct Options : app::CommonOptions {
  Index grid = 256;
  Window window = Window::cic;
  std::vector<int> types{1};
  bool by_number = false;
  bool interlaced = false;
  std::optional<Compensation>
      compensation;  ///< none given: see field_compensation() and power_compensation()

  std::string output;  ///< of the field; empty: see writes_field()
  std::string power;   ///< empty: no spectrum
  BinOptions bins;
  int multipole_axis = -1;
  std::string image;  ///< empty: no picture
  View view;
  int pixels = 1000;
  std::string haloes;                ///< a catalogue, or empty
  std::optional<Index> min_members;  ///< of haloes that are drawn; none: the largest ones are
};

/// The field is written if its file is named, or nothing else is asked for.
bool writes_field(const Options& options);
bool needs_field(const Options& options);
/// As painted, unless the user wants it otherwise.
Compensation field_compensation(const Options& options);
/// What nbodykit does where it compensates: the window alone on interlaced meshes, else with its
/// aliases of shot noise.
Compensation power_compensation(const Options& options);

/// "none", "window", "shot-noise".
const char* name_of(Compensation compensation);

/// "CIC, interlaced".
std::string window_text(const Options& options);

/// The options, or a text (help, version) to print instead of running. Throws InputError for
/// anything that makes no sense by itself.
std::variant<Options, std::string> parse_options(int argc, const char* const* argv);

}  // namespace zhalo::density_app
