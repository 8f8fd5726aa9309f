/// What `fof` is going to do: everything that is known without reading positions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/fof/options.hpp"
#include "apps/report/rank_layout.hpp"
#include "zhalo/comm/context.hpp"
#include "zhalo/io/snapshot.hpp"

namespace zhalo::fof_app {

struct Linking {
  double length = 0;            ///< in the snapshot's unit
  std::optional<double> ratio;  ///< in mean separations, if these are known
  std::optional<io::MeanSeparation> mean_separation;
  std::string mean_separation_missing;  ///< why there is none
  std::vector<std::string> warnings;    ///< sentences for the user
};

/// Bytes. Groups are bounded by all particles being in groups of the smallest size.
struct Estimate {
  std::size_t memory = 0;           ///< for the particles and the search, at most, over all ranks
  std::size_t memory_per_rank = 0;  ///< at most
  std::size_t catalogue_limit = 0;
  std::size_t membership = 0;  ///< 0 if it is not asked for
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
  std::vector<std::string> warnings;

  Index num_particles() const { return num_linked + num_attachable; }
};

/// Collective; throws as the library does, and InputError if the linking length makes no sense.
Plan plan_run(const Context& context, const io::Snapshot& snapshot, const Options& options);

}  // namespace zhalo::fof_app
