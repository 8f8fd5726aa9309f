#include "apps/density/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/density/captions.hpp"
#include "apps/report/report_parts.hpp"

namespace zhalo::density_app {
namespace {

using app::bytes_text;
using app::Lines;

std::string compensation_text(Compensation compensation) {
  return compensation == Compensation::none
             ? "not compensated"
             : fmt::format("compensated ({})", name_of(compensation));
}

void add_plan(Lines& lines, const Plan& plan) {
  const Options& options = plan.options;
  const std::string unit = plan.snapshot.units.length_name();
  lines.line("Particles",
             fmt::format("{} of type {}, weighted by {}", plan.num_particles,
                         fmt::join(options.types, ", "), options.by_number ? "number" : "mass"));
  lines.line("Field", fmt::format("{}^3 cells of {:.6g} {}, {}", options.grid, plan.grid.spacing(0),
                                  unit, window_text(options)));
  if (needs_field(options) && field_compensation(options) != Compensation::none)
    lines.line("", compensation_text(field_compensation(options)));
  lines.line("Box", app::box_text(plan.grid.box, unit));
  if (!options.power.empty())
    lines.line("Spectrum", compensation_text(power_compensation(options)));
  if (!options.image.empty()) lines.line("Picture", layer_text(plan));
}

void add_results(Lines& lines, const Plan& plan) {
  const Result& found = *plan.found;
  if (found.field) {
    lines.line("Density", fmt::format("{:.6g} to {:.6g} times the mean, standard deviation {:.6g}",
                                      found.field->min, found.field->max, found.field->deviation));
  }
  if (found.power) {
    const std::string unit = plan.snapshot.units.length_name();
    lines.line("Spectrum", fmt::format("{} bins, k up to {:.4g} ({})^-1, shot noise {:.6g} ({})^3",
                                       found.power->num_bins, found.power->nyquist, unit,
                                       found.power->shot_noise, unit));
  }
  if (found.haloes)
    lines.line("Haloes",
               fmt::format("{} drawn of {}", found.haloes->drawn, found.haloes->in_catalogue));
  app::add_wrapped(lines, found.painted.num_wrapped, "positions");
}

}  // namespace

std::string plan_text(const Plan& plan, bool verbose) {
  Lines lines;
  lines.plain("");
  add_plan(lines, plan);
  add_rank_layout(lines, plan.ranks, verbose);
  if (verbose) {
    lines.line("Division", plan.decomposition);
    app::add_inputs(lines, plan.snapshot.files);
  }
  return describe(plan.snapshot) + std::move(lines).text() + (verbose ? estimate_text(plan) : "") +
         "\n";
}

std::string estimate_text(const Plan& plan) {
  Lines lines;
  const Estimate& estimate = plan.estimate;
  app::add_memory_estimate(lines, "particles, field and modes", estimate, plan.ranks.num_ranks);
  if (writes_field(plan.options))
    lines.line("Output", fmt::format("{} in {}", bytes_text(estimate.output),
                                     plan.output.shown(plan.num_files)));
  return std::move(lines).text();
}

std::string result_text(const Plan& plan) {
  const Result& found = *plan.found;
  Lines lines;
  lines.plain("");
  add_results(lines, plan);
  app::Run run{found.measured, found.seconds, plan.num_particles, plan.ranks.num_ranks == 1};
  run.held = "particles and fields";
  add_phases(lines, run);
  lines.plain("");
  add_memory(lines, run);
  app::add_files(lines, found.files, found.num_files);
  return std::move(lines).text();
}

}  // namespace zhalo::density_app
