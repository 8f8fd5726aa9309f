#include "apps/density/json_report.hpp"

#include "apps/density/captions.hpp"
#include "apps/report/json_parts.hpp"

namespace zhalo::density_app {
namespace {

using app::Json;
using app::json_of;

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

Json json_of(const Result& found, Index num_particles) {
  Json result = {{"painted", json_of(found.painted)},
                 {"field", json_if(found.field)},
                 {"power", json_if(found.power)},
                 {"haloes", json_if(found.haloes)},
                 {"phases", app::json_of_phases(found.measured, num_particles)},
                 {"seconds", found.seconds}};
  result.update(app::json_of_memory(found.measured));
  result.update(Json{{"num_files", found.num_files}, {"files", found.files}});
  return result;
}

}  // namespace

std::string to_json(const Plan& plan) {
  const bool draws = !plan.options.image.empty();
  Json all = {{"zhalo_version", ZHALO_VERSION},
              {"dry_run", !plan.found},
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
           {"result", plan.found ? json_of(*plan.found, plan.num_particles) : Json(nullptr)}});
  return all.text();
}

}  // namespace zhalo::density_app
