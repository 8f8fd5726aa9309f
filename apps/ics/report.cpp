#include "apps/ics/report.hpp"

#include <fmt/format.h>
#include <numbers>

#include "apps/report/json_parts.hpp"
#include "apps/report/report_parts.hpp"

namespace zhalo::ics_app {
namespace {

using app::bytes_text;
using app::Json;
using app::Lines;

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

Json json_of(const Result& result, Index num_particles) {
  Json all = {{"rms_displacement", result.rms_displacement},
              {"max_displacement", result.max_displacement},
              {"rms_velocity", result.rms_velocity},
              {"phases", app::json_of_phases(result.measured, num_particles)},
              {"seconds", result.seconds}};
  all.update(app::json_of_memory(result.measured));
  all.update(Json{{"num_files", result.num_files}, {"files", result.files}});
  return all;
}

}  // namespace

std::string plan_text(const Plan& plan, bool verbose) {
  const Options& options = plan.options;
  Lines lines;
  lines.line("Particles",
             fmt::format("{0} = {1}^3 of type 1, {2:.6g} 1e10 Msun/h each, in float{3}",
                         plan.num_particles, options.num, plan.particle_mass,
                         options.double_precision ? 64 : 32));
  lines.line("Box", fmt::format("{:.10g} Mpc/h, one particle per {:.6g} Mpc/h", options.box,
                                spacing(options)));
  lines.line("Redshift", fmt::format("{:.10g} (a = {:.6g}), linear growth since then {:.6g}",
                                     options.redshift, options.scale_factor(), 1 / plan.growth.d1));
  lines.line("Cosmology", cosmology_text(options));
  lines.line("Spectrum", spectrum_text(plan));
  lines.line("Waves",
             fmt::format("k = {:.6g} to {:.6g} h/Mpc along an axis",
                         2 * std::numbers::pi / options.box, std::numbers::pi / spacing(options)));
  lines.line("Field", random_text(options));
  add_rank_layout(lines, plan.ranks, verbose);
  if (verbose) lines.line("Mesh", plan.decomposition);
  return std::move(lines).text() + (verbose ? estimate_text(plan) : "") + "\n";
}

std::string estimate_text(const Plan& plan) {
  Lines lines;
  const Estimate& estimate = plan.estimate;
  app::add_memory_estimate(lines, "fields and particles", estimate, plan.ranks.num_ranks);
  lines.line("Output", fmt::format("{} in {}", bytes_text(estimate.output),
                                   plan.output.shown(plan.num_files)));
  return std::move(lines).text();
}

std::string result_text(const Plan& plan, const Result& result) {
  const double unit = spacing(plan.options);
  Lines lines;
  lines.plain("");
  lines.line("Displaced",
             fmt::format("{:.4g} Mpc/h rms ({:.4g} of the spacing), at most {:.4g} Mpc/h",
                         result.rms_displacement, result.rms_displacement / unit,
                         result.max_displacement));
  lines.line("Velocities", fmt::format("{:.4g} km/s rms, peculiar", result.rms_velocity));
  const app::Run run{result.measured, result.seconds, plan.num_particles,
                     plan.ranks.num_ranks == 1};
  add_phases(lines, run);
  lines.plain("");
  add_memory(lines, run);
  app::add_files(lines, result.files, result.num_files);
  return std::move(lines).text();
}

std::string to_json(const Plan& plan, const Result* result) {
  Json all = {{"zhalo_version", ZHALO_VERSION},      {"dry_run", result == nullptr},
              {"options", json_of(plan.options)},    {"num_particles", plan.num_particles},
              {"particle_mass", plan.particle_mass}, {"sigma8", plan.sigma8},
              {"growth", json_of(plan.growth)}};
  all.update(app::json_of(plan.ranks));
  all.update(
      Json{{"decomposition", plan.decomposition},
           {"estimate", app::json_of_estimate(plan.estimate)},
           {"output", plan.output.shown(plan.num_files)},
           {"warnings", plan.warnings},
           {"result", result != nullptr ? json_of(*result, plan.num_particles) : Json(nullptr)}});
  return all.text();
}

}  // namespace zhalo::ics_app
