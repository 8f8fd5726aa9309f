/// Everything that a run has to say, for the report in text and in JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/fof/exchanged.hpp"
#include "apps/fof/linking.hpp"
#include "apps/report/rank_layout.hpp"
#include "zhalo/catalogue/catalogue.hpp"

namespace zhalo::fof_app {

/// Bytes. Groups are bounded by all particles being in groups of the smallest size.
struct Estimate {
  std::size_t memory = 0;           ///< for the particles and the search, at most, over all ranks
  std::size_t memory_per_rank = 0;  ///< at most
  std::size_t catalogue_limit = 0;
  std::size_t membership = 0;  ///< 0 if it is not asked for
};

struct GroupRow {
  Index length = 0;
  double mass = 0;
  Vec3d centre;
  std::optional<Vec3d> velocity;  ///< none if the snapshot has none
};

/// What the search found and what it took.
struct Result {
  Index num_wrapped = 0;
  Index num_groups = 0;
  Index num_members = 0;
  std::vector<Index> members_by_type;
  Index max_particles = 0;        ///< that a rank read
  Index fewest_particles = 0;     ///< that a rank read
  std::vector<GroupRow> largest;  ///< of rank 0's rows, at most ten
  app::Measured measured;
  Exchanged exchanged;
  double seconds = 0;              ///< from the start to here
  std::vector<std::string> files;  ///< that rank 0 wrote first
  Index num_files = 0;             ///< over all ranks
  std::vector<std::string> warnings;
};

struct Plan {
  io::SnapshotInfo snapshot;
  std::vector<int> link_types;
  Attach attach;
  Index num_linked = 0;
  Index num_attachable = 0;       ///< particles of the types that are attached
  bool double_positions = false;  ///< searched in float64: some type is stored so
  Index min_size = 0;
  bool membership = false;  ///< written, too
  io::WriteOptions files;
  app::RankLayout ranks;
  Box box;
  bool wrap_all = false;
  Linking linking;
  Estimate estimate;
  std::string output;
  std::vector<std::string> warnings;  ///< of before the search
  std::optional<Result> found;        ///< none after a dry run

  Index num_particles() const { return num_linked + num_attachable; }
};

/// Of the run that the rest of the summary describes, as measured on the host.
Estimate estimate_needs(const Plan& plan);

}  // namespace zhalo::fof_app
