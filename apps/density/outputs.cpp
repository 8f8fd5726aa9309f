#include "apps/density/outputs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <cmath>
#include <iterator>

namespace zhalo::density_app {

Outputs::Outputs(const Communicator& comm, const Plan& plan)
    : power(comm, "--power", plan.options.power), image(comm, "--image", plan.options.image) {
  if (writes_field(plan.options)) field.emplace(comm, plan.output.directory);
}

void check_outputs(const Communicator& comm, const Plan& plan) {
  const app::TextFile power(comm, "--power", plan.options.power);
  const app::TextFile image(comm, "--image", plan.options.image);
  if (writes_field(plan.options)) app::check_place(comm, plan.output.directory);
}

app::Results Outputs::results() {
  app::Results all{{}, {&power, &image}};
  if (field) all.files.push_back(&*field);
  return all;
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

std::string snapshot_text(const io::SnapshotInfo& info) {
  std::string name = info.stem.empty() ? info.path : info.stem;
  if (!info.cosmology.redshift) return name;
  // A run that ends at z = 0 stores it as it is rounded.
  const double redshift = std::abs(*info.cosmology.redshift) < 5e-4 ? 0 : *info.cosmology.redshift;
  return fmt::format("{}, redshift {:.3g}", name, redshift);
}

namespace {

std::string bins_text(const BinOptions& bins) {
  const bool log = bins.spacing == BinSpacing::logarithmic;
  return log ? fmt::format("logarithmic, {:.6g} per decade", bins.per_decade) : "linear";
}

std::string header_of(const Plan& plan, const PaintReport& painted, const PowerSpectrum& spectrum) {
  const Options& options = plan.options;
  const std::string unit = plan.snapshot.units.length_name();
  std::string text;
  const auto line = [&](const std::string& comment) { text += "# " + comment + "\n"; };
  line(fmt::format("power spectrum by zhalo {} of {}: {}", ZHALO_VERSION, plan.snapshot.path,
                   snapshot_text(plan.snapshot)));
  line(fmt::format("{} particles of type {}, weighted by {}", painted.num_particles,
                   fmt::join(options.types, ","), options.by_number ? "number" : "mass"));
  const Vec3d& side = plan.grid.box.length;
  line(fmt::format("{}^3 cells in a box of {:.10g} x {:.10g} x {:.10g} {}", options.grid, side[0],
                   side[1], side[2], unit));
  line(fmt::format("window {}; compensation: {}", window_text(options),
                   name_of(power_compensation(options))));
  line(
      "delta(k) = 1/N sum over the N cells of delta exp(-i k x), delta = density / mean - 1; P = V "
      "<|delta(k)|^2>");
  line(
      fmt::format("bins k_lo <= k < k_hi ({}) up to the Nyquist frequency; modes counts k and -k, "
                  "but not k = 0",
                  bins_text(options.bins)));
  line(fmt::format("units: k in 1/({0}), P in ({0})^3, lengths comoving", unit));
  line(fmt::format("fundamental {:.9g}, Nyquist {:.9g}", spectrum.fundamental, spectrum.nyquist));
  line(fmt::format("shot noise V sum(w^2) / sum(w)^2 = {:.9g}, which P contains",
                   shot_noise(painted, plan.grid)));
  if (options.multipole_axis >= 0)
    line(fmt::format("P_l = (2 l + 1) V <|delta(k)|^2 L_l(k_{} / k)>",
                     axis_names[options.multipole_axis]));
  return text;
}

}  // namespace

std::string power_table(const Plan& plan, const PaintReport& painted,
                        const PowerSpectrum& spectrum) {
  std::string text = header_of(plan, painted, spectrum);
  const auto to = std::back_inserter(text);
  fmt::format_to(to, "# {:>13} {:>15} {:>11} {:>15} {:>15}", "k_mean", "P", "modes", "k_lo",
                 "k_hi");
  const std::size_t num_multipoles =
      spectrum.bins.empty() ? 0 : spectrum.bins.front().multipoles.size();
  for (std::size_t i = 0; i < num_multipoles; ++i)
    fmt::format_to(to, " {:>15}", fmt::format("P_{}", 2 * i));
  text += "\n";
  for (const PowerBin& bin : spectrum.bins) {
    fmt::format_to(to, "{:>15.9g} {:>15.9g} {:>11} {:>15.9g} {:>15.9g}", bin.k_mean, bin.power,
                   bin.num_modes, bin.k_lo, bin.k_hi);
    for (const double multipole : bin.multipoles) fmt::format_to(to, " {:>15.9g}", multipole);
    text += "\n";
  }
  return text;
}

}  // namespace zhalo::density_app
