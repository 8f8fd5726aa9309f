/// Everything that a run has to say, for the report in text and in JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/cli/output.hpp"
#include "apps/density/options.hpp"
#include "apps/report/measure.hpp"
#include "apps/report/rank_layout.hpp"

namespace zhalo::density_app {

/// Bytes, over all ranks unless said otherwise.
struct Estimate {
  double memory = 0;           ///< for particles, field and modes, at most
  double memory_per_rank = 0;  ///< at most
  double output = 0;
};

/// Cells in units of the mean, over all ranks.
struct FieldNumbers {
  double min = 0;
  double max = 0;
  double deviation = 0;  ///< root of the mean square of value - 1
};

struct PowerNumbers {
  double shot_noise = 0;
  double fundamental = 0;
  double nyquist = 0;
  Index num_bins = 0;
};

struct HaloNumbers {
  Index in_catalogue = 0;
  Index drawn = 0;
};

/// What came out and what it took.
struct Result {
  PaintReport painted;
  std::optional<FieldNumbers> field;
  std::optional<PowerNumbers> power;
  std::optional<HaloNumbers> haloes;
  app::Measured measured;
  double seconds = 0;              ///< from the start to here
  std::vector<std::string> files;  ///< that rank 0 wrote first
  Index num_files = 0;             ///< over all ranks
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
  std::optional<Result> found;  ///< none after a dry run
};

/// Of the run that the rest of the summary describes.
Estimate estimate_needs(const Plan& plan);

}  // namespace zhalo::density_app
