/// The command's two halves: what will be done, and doing it.
#pragma once

#include <optional>

#include "apps/knn/plan.hpp"
#include "zhalo/io/query_points.hpp"
#include "zhalo/io/staged_files.hpp"

namespace zhalo::knn_app {

/// What is read. Of queries one of the two, or none: then the particles ask for themselves.
struct Sources {
  io::Snapshot particles;
  std::optional<io::Snapshot> query_snapshot{};
  std::optional<io::QueryPoints> query_points{};
};

/// Collective; throws as the library does.
Sources open_sources(const Context& context, const Options& options);

/// Everything that is known without reading positions: all of a summary but `found`. Collective;
/// throws as the library does.
Plan plan_run(const Context& context, const Sources& sources, const Options& options);

/// Reads, searches and writes to `files`, for app::commit. The phases go to context.timers.
/// Collective.
Result find_neighbours(const Context& context, const Sources& sources, const Plan& plan,
                       io::StagedFiles& files);

}  // namespace zhalo::knn_app
