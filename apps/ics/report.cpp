#include "apps/ics/report.hpp"

#include <fmt/format.h>
#include <numbers>

#include "apps/report/report_parts.hpp"

namespace zhalo::ics_app {
namespace {

using app::bytes_text;
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

std::string result_text(const Plan& plan) {
  const Made& made = *plan.made;
  const double unit = spacing(plan.options);
  Lines lines;
  lines.plain("");
  lines.line(
      "Displaced",
      fmt::format("{:.4g} Mpc/h rms ({:.4g} of the spacing), at most {:.4g} Mpc/h",
                  made.rms_displacement, made.rms_displacement / unit, made.max_displacement));
  lines.line("Velocities", fmt::format("{:.4g} km/s rms, peculiar", made.rms_velocity));
  const app::Run run{made.measured, made.seconds, plan.num_particles, plan.ranks.num_ranks == 1};
  add_phases(lines, run);
  lines.plain("");
  add_memory(lines, run);
  app::add_files(lines, made.files, made.num_files);
  return std::move(lines).text();
}

}  // namespace zhalo::ics_app
