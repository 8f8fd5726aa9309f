/// The command `density`: its options, its plan, its outputs, what a run finds, and its report.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "apps/cli/options.hpp"
#include "apps/report/measure.hpp"
#include "apps/report/report.hpp"
#include "apps/report/results.hpp"
#include "zhalo/io/field_file.hpp"
#include "zhalo/io/load.hpp"
#include "zhalo/io/snapshot.hpp"
#include "zhalo/io/staged_files.hpp"
#include "zhalo/mesh/density.hpp"
#include "zhalo/mesh/field.hpp"
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
  std::optional<int> redshift_axis;  ///< positions are in redshift space along it
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

/// "Mpc", "(Mpc/h)": what may stand in a product or before a power.
std::string in_brackets(const std::string& unit);

/// "CIC, interlaced".
std::string window_text(const Options& options);

/// The options, or a text (help, version) to print instead of running. Throws InputError for
/// anything that makes no sense by itself.
std::variant<Options, std::string> parse_options(int argc, const char* const* argv);

struct Sources {
  io::Snapshot particles;
  std::vector<int> types;             ///< those of --types that are there
  std::vector<std::string> warnings;  ///< of the others
};

struct Plan : app::CommonPlan {
  Options options;
  io::SnapshotInfo snapshot;
  Index num_particles = 0;
  bool double_positions = false;
  Grid grid;
  std::optional<io::RedshiftSpace> redshift_space;
  std::string decomposition;
  double depth = 0;     ///< of the layer that is shown
  io::HaloList haloes;  ///< on rank 0: those that the picture shows, if there are to be any
  app::Estimate<double> estimate;
};

/// Collective; throws as the library does.
Sources open_sources(const Context& context, const Options& options);

/// Collective; throws as the library does.
Plan plan_run(const Context& context, const Sources& sources, const Options& options);

/// What the plan needs of the memory of devices.
app::DeviceNeed device_need(const Plan& plan);

/// "z from 0 to 10 Mpc/h": the layer that is shown.
std::string layer_text(const Plan& plan);

/// Found to be writable.
struct Outputs {
  std::optional<io::StagedFiles> field;
  app::TextFile power;
  app::TextFile image;

  /// Collective; FileError.
  Outputs(const Communicator& comm, const Plan& plan);

  app::Results results();
};

inline app::Results results_of(Outputs& outputs) { return outputs.results(); }

/// For a run that writes nothing: throws FileError if one of its results could not be written.
/// Collective.
void check_outputs(const Communicator& comm, const Plan& plan);

/// For the file of the field.
io::FieldRecord describe_field(const Plan& plan, const PaintReport& painted);

/// "snapshot_001, redshift 0.5".
std::string snapshot_text(const io::SnapshotInfo& info);

/// The spectrum as a text that people and numpy.loadtxt read.
std::string power_table(const Plan& plan, const PaintReport& painted,
                        const PowerSpectrum& spectrum);

/// Mean of the cells in the layer for each pixel of the map, [right * n + up], on rank 0; empty on
/// others. Cells that are partly within it count for that part. Equal bits for any number of ranks:
/// sums are of integers. Collective.
std::vector<double> project(const Context& context, const Field<float>& field, const View& view,
                            double depth);

/// Haloes of the catalogue that the picture shows: in the layer, and as large as the user wants.
struct ShownHaloes {
  io::HaloList list;
  Index num_undrawable = 0;  ///< left out: nowhere near the box, or without a radius
};
/// Throws as io::read_haloes does.
ShownHaloes read_shown_haloes(const Plan& plan);

/// The bytes of a PNG of the projected field.
std::string draw(const Plan& plan, std::vector<double> projected);

/// Cells in units of the mean, over all ranks.
struct FieldNumbers {
  double min = 0;
  double max = 0;
  double deviation = 0;  ///< root of the mean square of value - 1
};

struct PowerNumbers {
  double shot_noise = 0;
  double fundamental = 0;
  double nyquist = 0;
  double end = 0;  ///< of the last bin
  Index num_bins = 0;
};

struct HaloNumbers {
  Index in_catalogue = 0;
  Index drawn = 0;
};

/// What came out and what it took.
struct Result : app::CommonResult {
  PaintReport painted;
  std::optional<FieldNumbers> field;
  std::optional<PowerNumbers> power;
  std::optional<HaloNumbers> haloes;
};

/// What was found in the snapshot, and what is going to be made of it. `verbose`: of the text.
app::Report plan_report(const Plan& plan, bool verbose);

/// What came out, how long it took, and where it lies.
app::Rows result_rows(const Plan& plan, const Result& result);

}  // namespace zhalo::density_app
