#include "apps/ics/ics.hpp"

#include <fmt/format.h>
#include <numbers>

#include "apps/report/report.hpp"

namespace zhalo::ics_app {
namespace {

using app::Json;
using app::line;

double spacing(const Options& options) { return options.box / static_cast<double>(options.num); }

std::string cosmology_text(const Options& options) {
  return fmt::format("Omega_m {:.6g}, Omega_Lambda {:.6g}, Omega_b {:.6g}, h {:.6g}",
                     options.cosmology.omega_matter, options.omega_lambda,
                     options.cosmology.omega_baryon, options.cosmology.hubble);
}

std::string spectrum_text(const Plan& plan) {
  const bool from_table = !plan.options.power.empty();
  const std::string shape =
      from_table ? "" : fmt::format(", n_s {:.6g}", plan.options.cosmology.spectral_index);
  return fmt::format("{}{}, sigma8 {:.6g}", plan.power_source, shape, plan.sigma8);
}

std::string random_text(const Options& options) {
  return fmt::format(
      "seed {}{}{}, {}", options.random.seed,
      options.random.fixed_amplitude ? ", fixed amplitudes" : "",
      options.random.inverted ? ", inverted" : "",
      options.lpt == 1 ? "Zel'dovich displacements" : "displacements of second order");
}

Json json_of(const Options& options) {
  const EisensteinHu& cosmology = options.cosmology;
  const bool from_table = !options.power.empty();
  return {{"num", options.num},
          {"box_size", options.box},
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
          {"linear_power", from_table ? Json(options.power) : Json(nullptr)}};
}

Json json_of(const Growth& growth) {
  return {{"d1", growth.d1}, {"f1", growth.f1}, {"d2", growth.d2}, {"f2", growth.f2}};
}

app::Row modes_row(const Plan& plan) {
  std::string text = fmt::format("k = {:.6g} to {:.6g} h/Mpc along an axis",
                                 2 * std::numbers::pi / plan.options.box,
                                 std::numbers::pi / spacing(plan.options));
  if (plan.options.power.empty()) return {line("Modes", "{}", text), {{"power_table", nullptr}}};
  const ModeRange table = range_of(plan.power);
  text += fmt::format("; the table has {:.6g} to {:.6g}", table.min, table.max);
  const Json json = {{"min_k", table.min},
                     {"max_k", table.max},
                     {"sigma8_squared_beyond", plan.sigma8_beyond_table}};
  return {line("Modes", "{}", text), {{"power_table", json}}};
}

app::Rows plan_rows(const Plan& plan, bool verbose) {
  const Options& options = plan.options;
  return {
      {"", {{"options", json_of(options)}}},
      {line("Particles", "{0} = {1}^3 of type 1, {2:.6g} x 1e10 Msun/h each, in float{3}",
            plan.num_particles, options.num, plan.particle_mass,
            options.double_precision ? 64 : 32),
       {{"num_particles", plan.num_particles}, {"particle_mass", plan.particle_mass}}},
      {line("Box", "{:.10g} Mpc/h, one particle per {:.6g} Mpc/h", options.box, spacing(options))},
      {line("Redshift", "{:.10g} (a = {:.6g}), linear growth since then {:.6g}", options.redshift,
            options.scale_factor(), 1 / plan.growth.d1)},
      {line("Cosmology", "{}", cosmology_text(options))},
      {line("Spectrum", "{}", spectrum_text(plan)),
       {{"sigma8", plan.sigma8}, {"growth", json_of(plan.growth)}}},
      modes_row(plan),
      {line("Field", "{}", random_text(options))},
      app::ranks_row(plan.ranks, verbose),
      {verbose ? line("Mesh", "{}", plan.decomposition) : "",
       {{"decomposition", plan.decomposition}}},
  };
}

}  // namespace

app::Report plan_report(const Plan& plan, bool verbose) {
  return {plan_rows(plan, verbose), app::estimate_rows("fields and particles", plan),
          plan.output.shown(plan.num_files), plan.warnings};
}

app::Rows result_rows(const Plan& plan, const Result& result) {
  app::Run run{result.measured, plan.num_particles, plan.ranks.num_ranks == 1};
  run.held = "fields and particles";
  return {
      {"\n" + line("Displaced", "{:.4g} Mpc/h rms ({:.4g} of the spacing), at most {:.4g} Mpc/h",
                   result.rms_displacement, result.rms_displacement / spacing(plan.options),
                   result.max_displacement),
       {{"rms_displacement", result.rms_displacement},
        {"max_displacement", result.max_displacement}}},
      {line("Velocities", "{:.4g} km/s rms, peculiar", result.rms_velocity),
       {{"rms_velocity", result.rms_velocity}}},
      phases_row(run),
      peak_memory_row(run),
      app::files_row(result.written),
  };
}

}  // namespace zhalo::ics_app
