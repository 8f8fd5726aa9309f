/// Reading, painting, transforming and writing, and what came out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/density/outputs.hpp"
#include "apps/report/measure.hpp"

namespace zhalo::density_app {

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

/// Reads, paints, transforms and writes to `outputs`, for app::commit. The phases go to
/// context.timers. Collective.
Result make_density(const Context& context, const Sources& sources, const Plan& plan,
                    Outputs& outputs);

}  // namespace zhalo::density_app
