#include "apps/density/density.hpp"

#include <fmt/ranges.h>

#include "apps/report/report.hpp"

namespace zhalo::density_app {
namespace {

using app::Json;
using app::line;

std::string compensation_text(Compensation compensation) {
  switch (compensation) {
    case Compensation::none: break;
    case Compensation::window: return "compensated for the window";
    case Compensation::shot_noise: return "compensated for the window and its aliases";
  }
  return "not compensated";
}

/// Null if there is none.
Json path_json(const std::string& path) { return path.empty() ? Json(nullptr) : Json(path); }

/// "x", "y" or "z"; null for -1.
Json axis_json(int axis) {
  return axis < 0 ? Json(nullptr) : Json(std::string(1, axis_names[axis]));
}

Json json_of(const Options& options) {
  const bool is_log = options.bins.spacing == BinSpacing::logarithmic;
  return {{"grid", options.grid},
          {"window", zhalo::name_of(options.window)},
          {"types", options.types},
          {"weights", options.by_number ? "number" : "mass"},
          {"redshift_space", axis_json(options.redshift_axis.value_or(-1))},
          {"interlaced", options.interlaced},
          {"field_compensation", name_of(field_compensation(options))},
          {"power_compensation", name_of(power_compensation(options))},
          {"power", path_json(options.power)},
          {"bins", is_log ? "log" : "linear"},
          {"bin_width", options.bins.width},
          {"bins_per_decade", is_log ? Json(options.bins.per_decade) : Json(nullptr)},
          {"k_min", options.bins.k_min},
          {"k_max", options.bins.k_max},
          {"multipoles", axis_json(options.multipole_axis)},
          {"image", path_json(options.image)},
          {"haloes", path_json(options.haloes)}};
}

/// Null if there is no picture.
Json view_json(const Plan& plan) {
  const View& view = plan.options.view;
  if (plan.options.image.empty()) return nullptr;
  return {
      {"axis", std::string(1, axis_names[view.axis])}, {"from", view.from}, {"depth", plan.depth}};
}

/// "0.390625 Mpc/h"; three numbers if the cells are no cubes.
std::string cell_text(const Plan& plan) {
  const auto side = [&](int axis) { return plan.grid.spacing(axis); };
  const std::string unit = plan.snapshot.units.length_name();
  if (side(0) == side(1) && side(1) == side(2)) return fmt::format("{:.6g} {}", side(0), unit);
  return fmt::format("{:.6g} x {:.6g} x {:.6g} {}", side(0), side(1), side(2), unit);
}

std::string field_lines(const Plan& plan) {
  const Options& options = plan.options;
  std::string text =
      line("Field", "{}^3 cells of {}, {}", options.grid, cell_text(plan), window_text(options));
  if (!needs_field(options) || field_compensation(options) == Compensation::none) return text;
  return text + line("", "{}", compensation_text(field_compensation(options)));
}

std::string redshift_line(const Plan& plan) {
  const io::Units& units = plan.snapshot.units;
  const double per_km_per_s =
      plan.redshift_space->length_per_velocity * 1e5 / units.velocity_in_cm_per_s;
  return line("Positions", "in redshift space along {}: {:.6g} {} for 1 km/s",
              axis_names[plan.redshift_space->axis], per_km_per_s, units.length_name());
}

app::Rows plan_rows(const Plan& plan, bool verbose) {
  const Options& options = plan.options;
  const app::Row division{verbose ? line("Division", "{}", plan.decomposition) : "",
                          {{"decomposition", plan.decomposition}}};
  return {
      app::snapshot_row(plan.snapshot),
      {"", {{"options", json_of(options)}, {"view", view_json(plan)}}},
      {line("Particles", "{} of type {}, weighted by {}", plan.num_particles,
            fmt::join(options.types, ", "), options.by_number ? "number" : "mass"),
       {{"num_particles", plan.num_particles}}},
      {app::left_out_line(plan.snapshot, options.types, "--types", options.types)},
      {plan.redshift_space ? redshift_line(plan) : ""},
      {field_lines(plan)},
      app::box_row("Box", plan.grid.box, plan.snapshot.units.length_name()),
      {options.power.empty()
           ? ""
           : line("Spectrum", "{}", compensation_text(power_compensation(options)))},
      {options.image.empty() ? "" : line("Picture", "{}", layer_text(plan))},
      division.for_machines(),
      app::ranks_row(plan.ranks, verbose),
      division.for_people(),
      {verbose ? app::input_lines(plan.snapshot.files) : ""},
  };
}

app::Rows estimate_rows(const Plan& plan) {
  app::Rows rows = app::estimate_rows("particles, field and modes", plan);
  if (!writes_field(plan.options)) rows.back().text.clear();
  return rows;
}

Json json_of(const PaintReport& painted) {
  return {{"num_particles", painted.num_particles},
          {"num_wrapped", painted.num_wrapped},
          {"sum", painted.sum},
          {"sum_of_squares", painted.sum2},
          {"weight_unit", painted.weight_unit},
          {"mean", painted.mean()}};
}

app::Row painted_row(const PaintReport& painted) {
  return {app::wrapped_line(painted.num_wrapped, "positions"), {{"painted", json_of(painted)}}};
}

app::Row field_row(const std::optional<FieldNumbers>& field) {
  if (!field) return {"", {{"field", nullptr}}};
  const Json json = {
      {"min", field->min}, {"max", field->max}, {"standard_deviation", field->deviation}};
  return {line("Density", "{:.6g} to {:.6g} times the mean, standard deviation {:.6g}", field->min,
               field->max, field->deviation),
          {{"field", json}}};
}

app::Row power_row(const std::optional<PowerNumbers>& power, const std::string& unit) {
  if (!power) return {"", {{"power", nullptr}}};
  const Json json = {{"shot_noise", power->shot_noise},
                     {"fundamental", power->fundamental},
                     {"nyquist", power->nyquist},
                     {"num_bins", power->num_bins}};
  return {
      line("Spectrum", "{0} bins, k up to {1:.4g} {3}^-1, shot noise {2:.6g} {3}^3 not subtracted",
           power->num_bins, power->end, power->shot_noise, in_brackets(unit)),
      {{"power", json}}};
}

app::Row haloes_row(const std::optional<HaloNumbers>& haloes) {
  if (!haloes) return {"", {{"haloes", nullptr}}};
  const Json json = {{"in_catalogue", haloes->in_catalogue}, {"drawn", haloes->drawn}};
  return {line("Haloes", "{} drawn of {}", haloes->drawn, haloes->in_catalogue),
          {{"haloes", json}}};
}

}  // namespace

app::Report plan_report(const Plan& plan, bool verbose) {
  const Json output =
      writes_field(plan.options) ? Json(plan.output.shown(plan.num_files)) : Json(nullptr);
  return {plan_rows(plan, verbose), estimate_rows(plan), output, plan.warnings};
}

app::Rows result_rows(const Plan& plan, const Result& result) {
  app::Run run{result.measured, plan.num_particles, plan.ranks.num_ranks == 1};
  run.held = "particles and fields";
  const app::Row painted = painted_row(result.painted);
  return {
      {"\n"},
      painted.for_machines(),
      field_row(result.field),
      power_row(result.power, plan.snapshot.units.length_name()),
      haloes_row(result.haloes),
      painted.for_people(),
      phases_row(run),
      peak_memory_row(run),
      app::files_row(result.written),
  };
}

}  // namespace zhalo::density_app
