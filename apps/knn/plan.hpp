/// What `knn` is going to do: everything that is known without reading positions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/cli/run_files.hpp"
#include "apps/knn/options.hpp"
#include "apps/report/rank_layout.hpp"
#include "zhalo/comm/context.hpp"
#include "zhalo/io/query_points.hpp"
#include "zhalo/io/snapshot.hpp"

namespace zhalo::knn_app {

/// What is read. Of queries one of the two, or none: then the particles ask for themselves.
struct Sources {
  io::Snapshot particles;
  std::optional<io::Snapshot> query_snapshot{};
  std::optional<io::QueryPoints> query_points{};
};

/// Whose neighbours are looked for, where these are not the particles themselves.
struct QuerySummary {
  std::string path;
  bool is_snapshot = false;  ///< else a file of points
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
};

/// Collective; throws as the library does.
Sources open_sources(const Context& context, const Options& options);

/// Collective; throws as the library does.
Plan plan_run(const Context& context, const Sources& sources, const Options& options);

}  // namespace zhalo::knn_app
