/// Making the particles and writing them, and what came out.
#pragma once

#include <string>
#include <vector>

#include "apps/ics/plan.hpp"
#include "apps/report/measure.hpp"
#include "zhalo/io/staged_files.hpp"

namespace zhalo::ics_app {

/// What was made and what it took.
struct Result {
  double rms_displacement = 0;  ///< Mpc/h, of the vector
  double max_displacement = 0;  ///< the same, the longest
  double rms_velocity = 0;      ///< km/s
  app::Measured measured;
  double seconds = 0;              ///< from the start to here
  std::vector<std::string> files;  ///< that rank 0 wrote first
  Index num_files = 0;             ///< over all ranks
};

/// Makes the particles and writes them to `files`, for app::commit. The phases go to
/// context.timers. Collective.
Result make_particles(const Context& context, const Plan& plan, io::StagedFiles& files);

}  // namespace zhalo::ics_app
