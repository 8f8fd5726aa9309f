/// Reading, linking, attaching and writing, and what came out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/fof/plan.hpp"
#include "apps/report/measure.hpp"
#include "zhalo/io/staged_files.hpp"

namespace zhalo::fof_app {

struct GroupRow {
  Index length = 0;
  double mass = 0;
  Vec3d centre;
  std::optional<Vec3d> velocity;  ///< none if the snapshot has none
};

/// What the search sent between ranks.
struct Exchanged {
  app::Spread searched;  ///< particles on a rank
  app::Spread ghosts;    ///< particles that a rank sent to others
  Index edges = 0;       ///< between sets on different ranks, over all ranks
  Index rounds = 0;      ///< until all ranks agreed on the groups
  app::Spread bytes;     ///< that a rank sent
};

/// What the search found and what it took.
struct Result {
  Index num_wrapped = 0;
  Index num_groups = 0;
  Index num_members = 0;
  std::vector<Index> members_by_type;
  std::string checksum;           ///< of the catalogue: the same for any ranks, threads and files
  Index min_particles = 0;        ///< that a rank read
  Index max_particles = 0;        ///< that a rank read
  std::vector<GroupRow> largest;  ///< of rank 0's rows, at most ten
  app::Measured measured;
  Exchanged exchanged;
  double seconds = 0;              ///< from the start to here
  std::vector<std::string> files;  ///< that rank 0 wrote first
  Index num_files = 0;             ///< over all ranks
  std::vector<std::string> warnings;
};

/// Reads, searches and writes to `files`, for app::commit. The phases go to context.timers.
/// Collective.
Result find_groups(const Context& context, const io::Snapshot& snapshot, const Plan& plan,
                   io::StagedFiles& files);

}  // namespace zhalo::fof_app
