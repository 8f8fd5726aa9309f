#include "apps/density/captions.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cctype>
#include <cmath>

namespace zhalo::density_app {

const char* name_of(Compensation compensation) {
  switch (compensation) {
    case Compensation::none: return "none";
    case Compensation::window: return "window";
    case Compensation::shot_noise: return "shot-noise";
  }
  return "";
}

std::string window_text(const Options& options) {
  std::string window = zhalo::name_of(options.window);
  std::transform(window.begin(), window.end(), window.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return fmt::format("{}{}", window, options.interlaced ? ", interlaced" : "");
}

std::string snapshot_text(const io::SnapshotInfo& info) {
  std::string name = info.stem.empty() ? info.path : info.stem;
  if (!info.cosmology.redshift) return name;
  // A run that ends at z = 0 stores it as it is rounded.
  const double redshift = std::abs(*info.cosmology.redshift) < 5e-4 ? 0 : *info.cosmology.redshift;
  return fmt::format("{}, redshift {:.3g}", name, redshift);
}

std::string layer_text(const Plan& plan) {
  const View& view = plan.options.view;
  return fmt::format("{} from {:.6g} to {:.6g} {}", axis_names[view.axis], view.from,
                     view.from + plan.depth, plan.snapshot.units.length_name());
}

io::FieldRecord describe_field(const Plan& plan, const PaintReport& painted) {
  const Options& options = plan.options;
  io::FieldRecord record;
  record.name = plan.output.name;
  record.files = options.files;
  record.meaning.text = fmt::format(
      "Density of {} in units of its mean; cell (i, j, k) is around BoxCorner + (i + 1/2, j + 1/2, "
      "k + 1/2) BoxSize / GridSize",
      options.by_number ? "the number of particles" : "mass");
  record.notes = {{"Window", std::string(zhalo::name_of(options.window))},
                  {"Weights", std::string(options.by_number ? "number" : "mass")},
                  {"Interlaced", Index{options.interlaced ? 1 : 0}},
                  {"Compensation", std::string(name_of(field_compensation(options)))},
                  {"Mean", painted.mean()}};
  record.parameters = {{"Types", options.types},
                       {"NumParticles", painted.num_particles},
                       {"Precision", std::string(plan.double_positions ? "float64" : "float32")}};
  return record;
}

}  // namespace zhalo::density_app
