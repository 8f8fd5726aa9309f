/// The command `ics`: its options, its plan, what a run makes, and its report.
#pragma once

#include <string>
#include <variant>

#include "apps/cli/options.hpp"
#include "apps/report/measure.hpp"
#include "apps/report/report.hpp"
#include "apps/report/results.hpp"
#include "zhalo/comm/communicator.hpp"
#include "zhalo/comm/context.hpp"
#include "zhalo/cosmology/cosmology.hpp"
#include "zhalo/ics/initial_conditions.hpp"
#include "zhalo/io/result_file.hpp"
#include "zhalo/io/staged_files.hpp"

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

/// Two columns of text, k in h/Mpc and P in (Mpc/h)^3 at redshift 0, further ones ignored; # begins
/// a comment. Rank 0 reads. Collective; InputError with the number of the line.
LinearPower read_power_table(const Communicator& comm, const std::string& path);

/// Wave numbers in h/Mpc.
struct ModeRange {
  double min = 0;
  double max = 0;
};

/// Of the points of a table.
ModeRange range_of(const LinearPower& power);

struct Plan : app::CommonPlan {
  Options options;
  Index num_particles = 0;
  double particle_mass = 0;  ///< 1e10 Msun/h
  LinearPower power{{1, 2}, {1, 1}};
  std::string power_source;
  std::string power_path;  ///< whole, if it is a file's; the same on all ranks
  double sigma8 = 0;
  double sigma8_beyond_table = 0;  ///< this part of its square is from modes beyond the table
  Growth growth;
  std::string decomposition;
  app::Estimate<double> estimate;
};

/// Collective; throws as the library does.
Plan plan_run(const Context& context, const Options& options);

/// What the plan needs of the memory of devices.
app::DeviceNeed device_need(const Plan& plan);

/// Planes of cells: the particles' order in the files is then that of their ids for any number of
/// ranks.
Decomposition decompose(const Options& options, int num_ranks);

/// Of the snapshot.
io::SnapshotHeader header_of(const Plan& plan);

/// What was made and what it took.
struct Result : app::CommonResult {
  double rms_displacement = 0;  ///< Mpc/h, of the vector
  double max_displacement = 0;  ///< the same, the longest
  double rms_velocity = 0;      ///< km/s
};

/// What is going to be made. `verbose`: of the text.
app::Report plan_report(const Plan& plan, bool verbose);

/// What was made, how long it took, and where it lies.
app::Rows result_rows(const Plan& plan, const Result& result);

}  // namespace zhalo::ics_app
