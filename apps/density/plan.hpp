/// What `density` is going to do: everything that is known without reading positions.
#pragma once

#include <string>
#include <vector>

#include "apps/cli/run_files.hpp"
#include "apps/density/options.hpp"
#include "apps/report/rank_layout.hpp"
#include "zhalo/io/halo_list.hpp"
#include "zhalo/io/snapshot.hpp"

namespace zhalo::density_app {

struct Sources {
  io::Snapshot particles;
  io::HaloList haloes;  ///< on rank 0, if there are to be any
};

/// Bytes, over all ranks unless said otherwise.
struct Estimate {
  double memory = 0;           ///< for particles, field and modes, at most
  double memory_per_rank = 0;  ///< at most
  double output = 0;
};

struct Plan {
  Options options;
  io::SnapshotInfo snapshot;
  Index num_particles = 0;
  bool double_positions = false;
  app::RankLayout ranks;
  Grid grid;
  std::string decomposition;
  double depth = 0;  ///< of the layer that is shown
  app::OutputName output;
  Index num_files = 0;
  Estimate estimate;
  std::vector<std::string> warnings;
};

/// Collective; throws as the library does.
Sources open_sources(const Context& context, const Options& options);

/// Collective; throws as the library does.
Plan plan_run(const Context& context, const Sources& sources, const Options& options);

/// "z from 0 to 10 Mpc/h": the layer that is shown.
std::string layer_text(const Plan& plan);

}  // namespace zhalo::density_app
