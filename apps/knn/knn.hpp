/// The command `knn`: its options, its plan, what a run finds, and its report.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "apps/cli/options.hpp"
#include "apps/report/measure.hpp"
#include "apps/report/report.hpp"
#include "apps/report/results.hpp"
#include "zhalo/comm/communicator.hpp"
#include "zhalo/comm/context.hpp"
#include "zhalo/io/load.hpp"
#include "zhalo/io/result_file.hpp"
#include "zhalo/io/snapshot.hpp"
#include "zhalo/io/staged_files.hpp"
#include "zhalo/knn/knn.hpp"
#include "zhalo/knn/reduce.hpp"

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

/// "cubic spline", "Wendland C2", "Wendland C4".
std::string name_of(SphKernel kernel);

bool any_needs_masses(const Options& options);
bool any_needs_velocities(const Options& options);

/// What is read. Of queries one of the two, or none: then the particles ask for themselves.
struct Sources {
  io::Snapshot particles;
  std::vector<int> types;  ///< of the particles: those of --types that are there
  std::optional<io::Snapshot> query_snapshot{};
  std::optional<io::QueryPoints> query_points{};
  std::vector<int> query_types{};       ///< of the query's snapshot
  std::vector<std::string> warnings{};  ///< of types that are not there
};

/// Whose neighbours are looked for, where these are not the particles themselves.
struct QueryInput {
  std::string path;
  bool is_snapshot = false;  ///< else a file of points
  std::vector<int> types;    ///< of the snapshot
  std::vector<std::string> files;
  std::vector<std::string> origins;  ///< io::SnapshotInfo
  Index count = 0;
  bool double_positions = false;
};

struct Plan : app::CommonPlan {
  Options options;
  io::SnapshotInfo snapshot;
  Index num_particles = 0;          ///< among which neighbours are looked for
  std::optional<QueryInput> query;  ///< none: the particles themselves
  Index num_queries = 0;
  bool double_positions = false;  ///< searched in float64: some positions are stored so
  Box box;
  app::Estimate<std::size_t> estimate;
};

/// Collective; throws as the library does.
Sources open_sources(const Context& context, const Options& options);

/// Collective; throws as the library does.
Plan plan_run(const Context& context, const Sources& sources, const Options& options);

/// Whether masses are needed and the particles do not all have the same.
bool needs_mass_column(const Plan& plan);

/// What the plan needs of the memory of devices.
app::DeviceNeed device_need(const Plan& plan);

/// Numbers of one dataset over all ranks.
struct ColumnSummary {
  std::string name;
  double min = 0;   ///< of the finite ones
  double mean = 0;  ///< of the finite ones
  double max = 0;   ///< of the finite ones
  Index finite = 0;
  Index total = 0;
};

/// What the search found and what it took.
struct Result : app::CommonResult {
  std::vector<ColumnSummary> columns;
  app::ReadPerRank queries;
  KnnStatistics search;  ///< sums over all ranks
};

/// What was found in the snapshot, and what is going to be searched. `verbose`: of the text.
app::Report plan_report(const Plan& plan, bool verbose);

/// What was found, how long it took, and where it lies.
app::Rows result_rows(const Plan& plan, const Result& result, bool verbose);

}  // namespace zhalo::knn_app
