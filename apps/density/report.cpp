#include "apps/density/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/common/report_parts.hpp"
#include "apps/density/labels.hpp"

namespace zhalo::density_app {
namespace {

using app::bytes_text;
using app::Lines;

std::string compensation_text(Compensation compensation) {
  return compensation == Compensation::none ? "not compensated" : fmt::format("compensated ({})", name_of(compensation));
}

void add_plan(Lines& lines, const Summary& summary) {
  const Options& options = summary.options;
  const std::string unit = summary.snapshot.units.length_name();
  lines.line("Particles", fmt::format("{} of type {}, weighted by {}", summary.num_particles, fmt::join(options.types, ", "),
                                      options.by_number ? "number" : "mass"));
  lines.line("Field",
             fmt::format("{}^3 cells of {:.6g} {}, {}", options.grid, summary.grid.spacing(0), unit, window_text(options)));
  if (needs_field(options) && field_compensation(options) != Compensation::none)
    lines.line("", compensation_text(field_compensation(options)));
  lines.line("Box", app::box_text(summary.grid.box, unit));
  if (!options.power.empty()) lines.line("Spectrum", compensation_text(power_compensation(options)));
  if (!options.image.empty()) lines.line("Picture", layer_text(summary));
}

void add_results(Lines& lines, const Summary& summary) {
  const Found& found = *summary.found;
  if (found.field) {
    lines.line("Density", fmt::format("{:.6g} to {:.6g} times the mean, standard deviation {:.6g}", found.field->min,
                                      found.field->max, found.field->deviation));
  }
  if (found.power) {
    const std::string unit = summary.snapshot.units.length_name();
    lines.line("Spectrum", fmt::format("{} bins, k up to {:.4g} ({})^-1, shot noise {:.6g} ({})^3", found.power->num_bins,
                                       found.power->nyquist, unit, found.power->shot_noise, unit));
  }
  if (found.haloes) lines.line("Haloes", fmt::format("{} drawn of {}", found.haloes->drawn, found.haloes->in_catalogue));
  app::add_wrapped(lines, found.painted.num_wrapped, "positions");
}

}  // namespace

std::string plan_text(const Summary& summary, bool verbose) {
  Lines lines;
  lines.plain("");
  add_plan(lines, summary);
  add_places(lines, summary.places, verbose);
  if (verbose) {
    lines.line("Division", summary.decomposition);
    app::add_inputs(lines, summary.snapshot.files);
  }
  return describe(summary.snapshot) + std::move(lines).text() + (verbose ? estimate_text(summary) : "") + "\n";
}

std::string estimate_text(const Summary& summary) {
  Lines lines;
  const Estimate& estimate = summary.estimate;
  app::add_memory_estimate(lines, "particles, field and modes", estimate, summary.places.num_ranks);
  if (writes_field(summary.options))
    lines.line("Output", fmt::format("{} in {}", bytes_text(estimate.output), summary.output.shown(summary.num_files)));
  return std::move(lines).text();
}

std::string result_text(const Summary& summary) {
  const Found& found = *summary.found;
  Lines lines;
  lines.plain("");
  add_results(lines, summary);
  app::Run run{found.measured, found.seconds, summary.num_particles, summary.places.num_ranks == 1};
  run.held = "particles and fields";
  add_phases(lines, run);
  lines.plain("");
  add_memory(lines, run);
  app::add_files(lines, found.files, found.num_files);
  return std::move(lines).text();
}

}  // namespace zhalo::density_app
