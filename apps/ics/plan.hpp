/// Everything that a run has to say, for the report in text and in JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/cli/output.hpp"
#include "apps/ics/options.hpp"
#include "apps/report/measure.hpp"
#include "apps/report/rank_layout.hpp"

namespace zhalo::ics_app {

/// Bytes, over all ranks unless said otherwise.
struct Estimate {
  double memory = 0;
  double memory_per_rank = 0;
  double output = 0;
};

/// What was made and what it took.
struct Made {
  double rms_displacement = 0;  ///< Mpc/h, of the vector
  double max_displacement = 0;  ///< the same, the longest
  double rms_velocity = 0;      ///< km/s
  app::Measured measured;
  double seconds = 0;              ///< from the start to here
  std::vector<std::string> files;  ///< that rank 0 wrote first
  Index num_files = 0;             ///< over all ranks
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
  std::optional<Made> made;  ///< none after a dry run
};

}  // namespace zhalo::ics_app
