/// Reading, searching and writing, and what came out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/knn/outputs.hpp"
#include "apps/report/measure.hpp"
#include "zhalo/io/staged_files.hpp"
#include "zhalo/knn/knn.hpp"

namespace zhalo::knn_app {

/// What the search found and what it took.
struct Result {
  std::vector<ColumnSummary> columns;
  Index min_queries = 0;                ///< on a rank
  Index max_queries = 0;                ///< on a rank
  std::optional<KnnStatistics> search;  ///< of the lists, if they were made; sums over all ranks
  app::Measured measured;
  double seconds = 0;              ///< from the start to here
  std::vector<std::string> files;  ///< that rank 0 wrote first
  Index num_files = 0;             ///< over all ranks
};

/// Reads, searches and writes to `files`, for app::commit. The phases go to context.timers.
/// Collective.
Result find_neighbours(const Context& context, const Sources& sources, const Plan& plan,
                       io::StagedFiles& files);

}  // namespace zhalo::knn_app
