#include "apps/density/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/report/json_parts.hpp"
#include "apps/report/report_parts.hpp"

namespace zhalo::density_app {
namespace {

using app::bytes_text;
using app::Json;
using app::json_of;
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

void add_results(Lines& lines, const Plan& plan, const Result& result) {
  if (result.field) {
    lines.line("Density",
               fmt::format("{:.6g} to {:.6g} times the mean, standard deviation {:.6g}",
                           result.field->min, result.field->max, result.field->deviation));
  }
  if (result.power) {
    const std::string unit = plan.snapshot.units.length_name();
    lines.line("Spectrum", fmt::format("{} bins, k up to {:.4g} ({})^-1, shot noise {:.6g} ({})^3",
                                       result.power->num_bins, result.power->nyquist, unit,
                                       result.power->shot_noise, unit));
  }
  if (result.haloes)
    lines.line("Haloes",
               fmt::format("{} drawn of {}", result.haloes->drawn, result.haloes->in_catalogue));
  app::add_wrapped(lines, result.painted.num_wrapped, "positions");
}

Json json_of(const Options& options) {
  return {{"grid", options.grid},
          {"window", zhalo::name_of(options.window)},
          {"types", options.types},
          {"weights", options.by_number ? "number" : "mass"},
          {"interlaced", options.interlaced},
          {"field_compensation", name_of(field_compensation(options))},
          {"power_compensation", name_of(power_compensation(options))},
          {"power", options.power},
          {"image", options.image},
          {"haloes", options.haloes}};
}

Json json_of(const Plan& plan, const View& view) {
  return {
      {"axis", std::string(1, axis_names[view.axis])}, {"from", view.from}, {"depth", plan.depth}};
}

Json json_of(const PaintReport& painted) {
  return {{"num_particles", painted.num_particles},
          {"num_wrapped", painted.num_wrapped},
          {"sum", painted.sum},
          {"sum_of_squares", painted.sum2},
          {"weight_unit", painted.weight_unit},
          {"mean", painted.mean()}};
}

Json json_of(const FieldNumbers& field) {
  return {{"min", field.min}, {"max", field.max}, {"standard_deviation", field.deviation}};
}

Json json_of(const PowerNumbers& power) {
  return {{"shot_noise", power.shot_noise},
          {"fundamental", power.fundamental},
          {"nyquist", power.nyquist},
          {"num_bins", power.num_bins}};
}

Json json_of(const HaloNumbers& haloes) {
  return {{"in_catalogue", haloes.in_catalogue}, {"drawn", haloes.drawn}};
}

template <class T>
Json json_if(const std::optional<T>& value) {
  return value ? json_of(*value) : Json(nullptr);
}

Json json_of(const Result& result, Index num_particles) {
  Json all = {{"painted", json_of(result.painted)},
              {"field", json_if(result.field)},
              {"power", json_if(result.power)},
              {"haloes", json_if(result.haloes)},
              {"phases", app::json_of_phases(result.measured, num_particles)},
              {"seconds", result.seconds}};
  all.update(app::json_of_memory(result.measured));
  all.update(Json{{"num_files", result.num_files}, {"files", result.files}});
  return all;
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

std::string result_text(const Plan& plan, const Result& result) {
  Lines lines;
  lines.plain("");
  add_results(lines, plan, result);
  app::Run run{result.measured, result.seconds, plan.num_particles, plan.ranks.num_ranks == 1};
  run.held = "particles and fields";
  add_phases(lines, run);
  lines.plain("");
  add_memory(lines, run);
  app::add_files(lines, result.files, result.num_files);
  return std::move(lines).text();
}

std::string to_json(const Plan& plan, const Result* result) {
  const bool draws = !plan.options.image.empty();
  Json all = {{"zhalo_version", ZHALO_VERSION},
              {"dry_run", result == nullptr},
              {"snapshot", json_of(plan.snapshot)},
              {"options", json_of(plan.options)},
              {"view", draws ? json_of(plan, plan.options.view) : Json(nullptr)},
              {"num_particles", plan.num_particles},
              {"box_length", plan.grid.box.length},
              {"decomposition", plan.decomposition}};
  all.update(app::json_of(plan.ranks));
  all.update(
      Json{{"estimate", app::json_of_estimate(plan.estimate)},
           {"output",
            writes_field(plan.options) ? Json(plan.output.shown(plan.num_files)) : Json(nullptr)},
           {"warnings", plan.warnings},
           {"result", result != nullptr ? json_of(*result, plan.num_particles) : Json(nullptr)}});
  return all.text();
}

}  // namespace zhalo::density_app
