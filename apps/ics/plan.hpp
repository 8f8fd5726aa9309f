/// What `ics` is going to do: everything that is known beforehand.
#pragma once

#include <string>
#include <vector>

#include "apps/cli/run_files.hpp"
#include "apps/ics/options.hpp"
#include "apps/report/rank_layout.hpp"
#include "zhalo/comm/context.hpp"
#include "zhalo/io/snapshot_file.hpp"

namespace zhalo::ics_app {

/// Bytes, over all ranks unless said otherwise.
struct Estimate {
  double memory = 0;
  double memory_per_rank = 0;
  double output = 0;
};

struct Plan {
  Options options;
  Index num_particles = 0;
  double particle_mass = 0;  ///< 1e10 Msun/h
  LinearPower power{{1, 2}, {1, 1}};
  std::string power_source;
  double sigma8 = 0;
  Growth growth;
  app::RankLayout ranks;
  std::string decomposition;
  app::OutputName output;
  Index num_files = 0;
  Estimate estimate;
  std::vector<std::string> warnings;
};

/// Collective; throws as the library does.
Plan plan_run(const Context& context, const Options& options);

/// Planes of cells: the particles' order in the files is then that of their ids for any number of
/// ranks.
Decomposition decompose(const Options& options, int num_ranks);

/// Of the snapshot.
io::SnapshotHeader header_of(const Plan& plan);

}  // namespace zhalo::ics_app
