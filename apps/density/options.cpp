#include "apps/density/density.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "apps/cli/options.hpp"
#include "apps/plot/picture.hpp"
#include "apps/report/text_file.hpp"

namespace zhalo::density_app {
namespace {

using app::demand;

/// What is on the command line, not checked yet.
struct RawOptions : app::RawCommonOptions {
  std::string types = "1";
  std::string window = "cic";
  std::string weights = "mass";
  std::optional<std::string> compensation;
  std::optional<std::string> redshift_axis;
  std::optional<std::string> bins;
  std::optional<std::string> multipoles;
  std::optional<std::string> axis;
  std::optional<double> from;
  std::optional<int> pixels;
  std::optional<double> per_decade;
};

constexpr const char* summary =
    "The density field of an N-body snapshot on a grid, its power spectrum, and a picture of it.";

constexpr const char* examples = R"(Examples:
  density snapshot_007.hdf5                the field on 256^3 cells: density_007.hdf5
  density snapdir_099 --grid 512 --window tsc --interlace --power pk.txt
  density snap.hdf5 --image map.png --project z --depth 10 --haloes out/groups_007
  density snap.hdf5 --grid 2048 --dry-run  what is in the file, and what a run needs
Lengths are in the snapshot's unit, densities in units of the mean. Without --interlace and
--compensate the field is the painted one. The spectrum is compensated unless --compensate says
otherwise: as nbodykit does, for the window if meshes are interlaced, else for the window and its
shot noise. Shot noise is reported, not subtracted (docs/density.md).
Under mpirun or srun each rank takes its share of the particles and of the cells.)";

void add_field_options(app::CommandLine& command, Options& options, RawOptions& raw) {
  command.add_option("--grid", options.grid, "Cells along each axis [256]", "N");
  command.add_option("--window", raw.window, "How particles are spread: ngp, cic, tsc or pcs [cic]",
                     "NAME");
  command.add_option("--types", raw.types, "Particle types, such as 1 or 0,1,4 [1]", "T,..");
  command.add_option("--weights", raw.weights, "What is counted: mass or number [mass]", "WHICH");
  command.add_option("--redshift-space", raw.redshift_axis,
                     "Move positions along x, y or z by velocities: s = x + v / (a H)", "AXIS");
  command.add_flag("--interlace", options.interlaced,
                   "Paint twice, half a cell apart, against aliasing");
  command.add_option_or_bare(
      "--compensate", raw.compensation,
      "Deconvolve the window: none, window or shot-noise [a bare one: window]", "[WHAT]");
  command.add_option("-o,--output", options.output,
                     "File of the field [density_NNN.hdf5, unless --power or --image is given]",
                     "OUT.hdf5");
}

void add_power_options(app::CommandLine& command, Options& options, RawOptions& raw) {
  command.add_option("--power", options.power, "Write the power spectrum as a table", "FILE");
  command.add_option("--bins", raw.bins, "Of the spectrum: linear or log [linear]", "WHICH");
  command.add_option("--bin-width", options.bins.width, "Width of linear bins in k [2 pi / box]",
                     "DK");
  command.add_option("--k-min", options.bins.k_min, "Where the bins begin in k [2 pi / box]", "K");
  command.add_option("--k-max", options.bins.k_max, "Where they end [the Nyquist frequency]", "K");
  command.add_option("--per-decade", raw.per_decade, "Logarithmic bins in a factor of ten [10]",
                     "N");
  command.add_option("--multipoles", raw.multipoles,
                     "Also P_0, P_2, P_4 about this axis: x, y or z", "AXIS");
}

void add_picture_options(app::CommandLine& command, Options& options, RawOptions& raw) {
  command.add_option("--image", options.image,
                     app::can_draw() ? "Draw the projected density"
                                     : "(this build has no cairo, with which to draw)",
                     "FILE.png");
  command.add_option("--project", raw.axis, "The axis to look along: x, y or z [z]", "AXIS");
  command.add_option("--from", raw.from, "Where on that axis the shown layer begins [0]", "X");
  command.add_option("--depth", options.view.depth, "Its thickness [the box]", "D");
  command.add_option("--haloes", options.haloes,
                     "Draw the haloes of this catalogue, such as OUT/groups_007", "PATH");
  command.add_option("--min-size", options.min_members,
                     "Draw all haloes of at least N particles [the 200 largest]", "N");
  command.add_option("--pixels", raw.pixels, "Longer side of the map in pixels [1000]", "N");
}

int axis_of(const char* option, const std::string& word) {
  return app::choice<int>(option, word, {{"x", 0}, {"y", 1}, {"z", 2}});
}

void take_field(const RawOptions& raw, Options& options) {
  demand(
      options.grid >= 1 && options.grid <= max_cells,
      fmt::format("--grid is {} (must be 1 to {} cells along each axis)", options.grid, max_cells));
  options.types = app::parse_types("--types", raw.types);
  options.window = app::choice<Window>(
      "--window", raw.window,
      {{"ngp", Window::ngp}, {"cic", Window::cic}, {"tsc", Window::tsc}, {"pcs", Window::pcs}});
  options.by_number =
      app::choice<bool>("--weights", raw.weights, {{"mass", false}, {"number", true}});
  if (raw.redshift_axis) options.redshift_axis = axis_of("--redshift-space", *raw.redshift_axis);
}

/// A word behind --compensate is taken for its own, also if it is the snapshot.
void take_compensation(const RawOptions& raw, Options& options) {
  if (!raw.compensation) return;
  const std::string word = raw.compensation->empty() ? "window" : *raw.compensation;
  demand(!options.snapshot.empty() || word == "none" || word == "window" || word == "shot-noise",
         fmt::format("--compensate is '{}' (must be none, window, shot-noise; if '{}' is the "
                     "snapshot, a bare --compensate goes behind it)",
                     word, word));
  options.compensation = app::choice<Compensation>("--compensate", word,
                                                   {{"none", Compensation::none},
                                                    {"window", Compensation::window},
                                                    {"shot-noise", Compensation::shot_noise}});
}

void take_power(const RawOptions& raw, Options& options) {
  const BinOptions& bins = options.bins;
  const bool any =
      raw.bins || bins.width || raw.per_decade || bins.k_min || bins.k_max || raw.multipoles;
  demand(!any || !options.power.empty(),
         "--bins, --bin-width, --per-decade, --k-min, --k-max or --multipoles is given, but no "
         "spectrum is asked for (--power)");
  const bool log =
      app::choice<bool>("--bins", raw.bins.value_or("linear"), {{"linear", false}, {"log", true}});
  options.bins.spacing = log ? BinSpacing::logarithmic : BinSpacing::linear;
  demand(!options.bins.width || !log, "--bin-width is given with --bins log (give --per-decade)");
  demand(!raw.per_decade || log, "--per-decade is given without --bins log (give --bin-width)");
  options.bins.per_decade = raw.per_decade.value_or(options.bins.per_decade);
  demand(!options.bins.width || app::is_positive(*options.bins.width),
         "--bin-width must be positive and finite");
  const double least = options.bins.k_min.value_or(1);
  demand(std::isfinite(least) && (log ? least > 0 : least >= 0),
         fmt::format("--k-min is {} (must be finite and {})", least,
                     log ? "more than 0, since bins are logarithmic" : "0 or more"));
  demand(!options.bins.k_max || app::is_positive(*options.bins.k_max),
         "--k-max must be positive and finite");
  demand(app::is_positive(options.bins.per_decade) && options.bins.per_decade <= 1000,
         "--per-decade must be positive and at most 1000");
  if (raw.multipoles) options.multipole_axis = axis_of("--multipoles", *raw.multipoles);
}

void take_picture(const RawOptions& raw, Options& options) {
  const bool any =
      raw.axis || raw.from || raw.pixels || options.view.depth || !options.haloes.empty();
  demand(!any || !options.image.empty(),
         "--project, --from, --depth, --haloes or --pixels is given, but no picture is asked for "
         "(--image)");
  demand(!options.min_members || !options.haloes.empty(),
         "--min-size is given without --haloes: whose haloes are meant?");
  demand(options.min_members.value_or(0) >= 0,
         fmt::format("--min-size is {} (must not be negative)", options.min_members.value_or(0)));
  demand(options.image.empty() || app::can_draw(),
         "--image: this build cannot draw; install cairo (Debian: libcairo2-dev), configure with "
         "-DZHALO_CAIRO=ON and build again");
  const std::string ending = std::filesystem::path(options.image).extension().string();
  demand(ending.empty() || ending == ".png" || ending == ".PNG",
         fmt::format("--image is '{}', but pictures are PNG: choose a name that ends in .png",
                     options.image));
  options.view.axis = axis_of("--project", raw.axis.value_or("z"));
  options.view.from = raw.from.value_or(0);
  options.pixels = raw.pixels.value_or(options.pixels);
  demand(std::isfinite(options.view.from), "--from must be finite");
  demand(
      !options.view.depth || app::is_positive(*options.view.depth),
      fmt::format("--depth is {} (must be positive and finite)", options.view.depth.value_or(0)));
  demand(options.pixels >= 100 && options.pixels <= 10000,
         fmt::format("--pixels is {} (must be 100 to 10000)", options.pixels));
}

}  // namespace

bool writes_field(const Options& options) {
  return !options.output.empty() || (options.power.empty() && options.image.empty());
}
bool needs_field(const Options& options) { return writes_field(options) || !options.image.empty(); }
Compensation field_compensation(const Options& options) {
  return options.compensation.value_or(Compensation::none);
}
Compensation power_compensation(const Options& options) {
  return options.compensation.value_or(options.interlaced ? Compensation::window
                                                          : Compensation::shot_noise);
}

const char* name_of(Compensation compensation) {
  switch (compensation) {
    case Compensation::none: return "none";
    case Compensation::window: return "window";
    case Compensation::shot_noise: return "shot-noise";
  }
  return "";
}

std::string window_text(const Options& options) {
  std::string window = zhalo::name_of(options.window);
  std::transform(window.begin(), window.end(), window.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return fmt::format("{}{}", window, options.interlaced ? ", interlaced" : "");
}

std::variant<Options, std::string> parse_options(int argc, const char* const* argv) {
  Options options;
  RawOptions raw;
  app::CommandLine command({.name = "density",
                            .usage = "SNAPSHOT [OPTION...]",
                            .summary = summary,
                            .footer = examples,
                            .other_names = {{"--boxsize", "--box-size"},
                                            {"--link-types", "--types"},
                                            {"--min-halo", "--min-size"},
                                            {"--ngrid", "--grid"},
                                            {"--nmesh", "--grid"}}});
  app::add_snapshot(command, options);
  add_field_options(command, options, raw);
  add_power_options(command, options, raw);
  add_picture_options(command, options, raw);
  app::add_box_options(command, options, raw);
  app::add_run_options(command, options, raw,
                       "Show snapshot, memory and output size; paint nothing");
  if (auto text = app::read_options(command, raw, argc, argv)) return *text;
  take_compensation(raw, options);
  const bool says_how = options.files.num_files != 0 || options.files.master;
  demand(writes_field(options) || !says_how,
         "--files or --master is given, but no field is written (name it with -o)");
  resolve_common(raw, "density", options);
  options.output_folder = app::folder_of(options.output);
  take_field(raw, options);
  take_power(raw, options);
  take_picture(raw, options);
  for (const std::string& path : {options.power, options.image})
    options.output_is_taken = options.output_is_taken || app::is_standard_output(path);
  return options;
}

}  // namespace zhalo::density_app
