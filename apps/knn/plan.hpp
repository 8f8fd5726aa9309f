/// Everything that a run has to say, for the report in text and in JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/cli/output.hpp"
#include "apps/knn/options.hpp"
#include "apps/report/measure.hpp"
#include "apps/report/rank_layout.hpp"
#include "zhalo/knn/knn.hpp"

namespace zhalo::knn_app {

/// Whose neighbours are looked for, where these are not the particles themselves.
struct QuerySummary {
  std::string path;
  bool is_snapshot = false;  ///< else a file of places
  std::vector<int> types;    ///< of the snapshot
  std::vector<std::string> files;
  Index count = 0;
  bool double_positions = false;
};

/// Bytes, over all ranks unless said otherwise.
struct Estimate {
  std::size_t memory = 0;           ///< for the particles, the search and the results, at most
  std::size_t memory_per_rank = 0;  ///< at most
  std::size_t output = 0;
};

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
struct Result {
  std::vector<ColumnSummary> columns;
  Index max_queries = 0;                ///< on a rank
  Index fewest_queries = 0;             ///< on a rank
  std::optional<KnnStatistics> search;  ///< of the lists, if they were made; sums over all ranks
  app::Measured measured;
  double seconds = 0;              ///< from the start to here
  std::vector<std::string> files;  ///< that rank 0 wrote first
  Index num_files = 0;             ///< over all ranks
};

struct Plan {
  Options options;
  io::SnapshotInfo snapshot;
  Index num_particles = 0;            ///< among which neighbours are looked for
  std::optional<QuerySummary> query;  ///< none: the particles themselves
  Index num_queries = 0;
  bool double_positions = false;  ///< searched in float64: some positions are stored so
  app::RankLayout ranks;
  Box box;
  app::OutputName output;
  Index num_files = 0;
  Estimate estimate;
  std::vector<std::string> warnings;
  std::optional<Result> found;  ///< none after a dry run
};

/// Of the run that the rest of the summary describes.
Estimate estimate_needs(const Plan& plan);

}  // namespace zhalo::knn_app
