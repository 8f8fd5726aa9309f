#include "apps/ics/json_report.hpp"

#include "apps/report/json_parts.hpp"

namespace zhalo::ics_app {
namespace {

using app::Json;

Json json_of(const Options& options) {
  const EisensteinHu& cosmology = options.cosmology;
  const bool from_table = !options.power.empty();
  return {{"num", options.num},
          {"box", options.box},
          {"redshift", options.redshift},
          {"seed", options.random.seed},
          {"fixed", options.random.fixed_amplitude},
          {"inverted", options.random.inverted},
          {"lpt", options.lpt},
          {"position_bits", options.double_precision ? 64 : 32},
          {"omega_matter", cosmology.omega_matter},
          {"omega_lambda", options.omega_lambda},
          {"omega_baryon", cosmology.omega_baryon},
          {"hubble", cosmology.hubble},
          {"spectral_index", from_table ? Json(nullptr) : Json(cosmology.spectral_index)},
          {"power", from_table ? Json(options.power) : Json(nullptr)}};
}

Json json_of(const Growth& growth) {
  return {{"d1", growth.d1}, {"f1", growth.f1}, {"d2", growth.d2}, {"f2", growth.f2}};
}

Json json_of(const Made& made, Index num_particles) {
  Json result = {{"rms_displacement", made.rms_displacement},
                 {"max_displacement", made.max_displacement},
                 {"rms_velocity", made.rms_velocity},
                 {"phases", app::json_of_phases(made.measured, num_particles)},
                 {"seconds", made.seconds}};
  result.update(app::json_of_memory(made.measured));
  result.update(Json{{"num_files", made.num_files}, {"files", made.files}});
  return result;
}

}  // namespace

std::string to_json(const Plan& plan) {
  Json all = {{"zhalo_version", ZHALO_VERSION},      {"dry_run", !plan.made},
              {"options", json_of(plan.options)},    {"num_particles", plan.num_particles},
              {"particle_mass", plan.particle_mass}, {"sigma8", plan.sigma8},
              {"growth", json_of(plan.growth)}};
  all.update(app::json_of(plan.ranks));
  all.update(Json{{"decomposition", plan.decomposition},
                  {"estimate", app::json_of_estimate(plan.estimate)},
                  {"output", plan.output.shown(plan.num_files)},
                  {"warnings", plan.warnings},
                  {"result", plan.made ? json_of(*plan.made, plan.num_particles) : Json(nullptr)}});
  return all.text();
}

}  // namespace zhalo::ics_app
