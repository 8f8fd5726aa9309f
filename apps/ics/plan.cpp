#include "apps/ics/ics.hpp"

#include <fmt/format.h>
#include <cmath>
#include <numbers>

#include "apps/cli/process.hpp"
#include "apps/cli/run_files.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/core/memory_need.hpp"

namespace zhalo::ics_app {
namespace {

/// Of one box, in the mass unit, with GADGET-4's constants: then readers find the mass that
/// Omega_matter says.
double total_mass(const Options& options, const io::SnapshotHeader& header) {
  constexpr double gravity_in_cgs = 6.6738e-8;
  const double time = header.length_in_cm / header.velocity_in_cm_per_s;
  const double gravity =
      gravity_in_cgs / std::pow(header.length_in_cm, 3) * header.mass_in_g * time * time;
  const double hubble = 100;  // km/s per Mpc/h
  return options.cosmology.omega_matter * 3 * hubble * hubble / (8 * std::numbers::pi * gravity) *
         std::pow(options.box, 3);
}

LinearPower power_of(const Communicator& comm, const Options& options) {
  if (options.power.empty()) return eisenstein_hu_power(options.cosmology);
  LinearPower power = read_power_table(comm, options.power);
  if (options.normalised) power.normalise(options.cosmology.sigma8);
  return power;
}

app::Estimate<double> estimate_needs(const Plan& plan) {
  constexpr double rank_bytes = 32 << 20;
  const double real = plan.options.double_precision ? sizeof(double) : sizeof(float);
  const auto particles = static_cast<double>(plan.num_particles);
  const auto side = static_cast<double>(plan.options.num);
  // While they are displaced: coordinates and velocities, the linear modes, of each order a
  // potential and a field, modes that become a field, the transforms' memory; and ids.
  const double each = (10 + 2 * plan.options.lpt) * real + sizeof(std::uint64_t);
  const double planes = std::ceil(side / plan.ranks.num_ranks);
  app::Estimate<double> estimate;
  estimate.memory_per_rank = planes * side * side * each + rank_bytes;
  estimate.memory = particles * each + plan.ranks.num_ranks * rank_bytes;
  estimate.output = particles * (6 * real + sizeof(std::uint64_t)) +
                    static_cast<double>(app::header_bytes(plan.num_files));
  return estimate;
}

/// Numbers that are right each by itself, but of which nothing can be computed.
void check_extremes(const Plan& plan) {
  const Options& options = plan.options;
  if (!(std::isnormal(plan.growth.d1) && plan.growth.d1 > 0 && std::isfinite(plan.growth.f1)))
    throw InputError(
        fmt::format("--redshift {}: the linear growth until then is {} (choose a redshift that can "
                    "be computed with)",
                    options.redshift, plan.growth.d1));
  if (!std::isnormal(plan.particle_mass))
    throw InputError(
        fmt::format("--box-size {}: the mass of a particle is {} (choose a side in Mpc/h that can "
                    "be computed with)",
                    options.box, plan.particle_mass));
  constexpr double max_in_float32 = 1e18;  // squares of lengths and of modes are computed
  const double spacing = options.box / static_cast<double>(options.num);
  if (!options.double_precision && (options.box > max_in_float32 || spacing < 1 / max_in_float32))
    throw InputError(fmt::format(
        "--box-size {}: float32 has no room for such lengths (use --double)", options.box));
}

void check_modes(Plan& plan) {
  if (plan.options.num > 2) return;
  plan.warnings.push_back(
      fmt::format("--num {}: the grid has no mode below its Nyquist frequency, so nothing is "
                  "displaced (use more)",
                  plan.options.num));
}

/// Of the longest mode and the shortest, along the diagonal; those at the Nyquist frequency are 0.
ModeRange modes_of(const Options& options) {
  const double longest = 2 * std::numbers::pi / options.box;
  return {longest, longest * std::floor(0.5 * static_cast<double>(options.num - 1)) * std::sqrt(3)};
}

/// What of the spectrum is not in the table, but follows from its ends.
void check_table(Plan& plan) {
  constexpr double few_digits = 1e-3;  // tables are rounded
  constexpr double max_part = 0.01;
  const ModeRange table = range_of(plan.power);
  const ModeRange modes = modes_of(plan.options);
  const bool covers =
      table.min <= modes.min * (1 + few_digits) && table.max >= modes.max * (1 - few_digits);
  const std::string what =
      fmt::format("--linear-power '{}': the table has k = {:.6g} to {:.6g} h/Mpc",
                  plan.options.power, table.min, table.max);
  if (plan.options.num > 2 && !covers)
    plan.warnings.push_back(
        fmt::format("{}, but the box has modes of {:.6g} to {:.6g}, along its diagonal: beyond the "
                    "table P goes on as a power law (give a longer table)",
                    what, modes.min, modes.max));
  if (plan.sigma8_beyond_table > max_part)
    plan.warnings.push_back(
        fmt::format("{}, but {:.3g}% of sigma8 squared is from modes beyond it, where P goes on "
                    "as a power law (give a longer table)",
                    what, 100 * plan.sigma8_beyond_table));
}

}  // namespace

ModeRange range_of(const LinearPower& power) {
  return {std::exp(power.log_k().front()), std::exp(power.log_k().back())};
}

Decomposition decompose(const Options& options, int num_ranks) {
  return {Grid::cube(options.num, options.box), num_ranks, {.split = Split::slab}};
}

io::SnapshotHeader header_of(const Plan& plan) {
  const Options& options = plan.options;
  io::SnapshotHeader header;
  header.box_length = options.box;
  header.scale_factor = options.scale_factor();
  header.hubble = options.cosmology.hubble;
  header.omega_matter = options.cosmology.omega_matter;
  header.omega_lambda = options.omega_lambda;
  header.omega_baryon = options.cosmology.omega_baryon;
  header.parameters = {{"ParticlesPerAxis", options.num},
                       {"Seed", static_cast<Index>(options.random.seed)},
                       {"FixedAmplitude", Index{options.random.fixed_amplitude}},
                       {"Inverted", Index{options.random.inverted}},
                       {"LptOrder", Index{options.lpt}},
                       {"PowerSpectrum", plan.power_path},
                       {"Sigma8", plan.sigma8},
                       {"LinearGrowth", plan.growth.d1}};
  if (options.power.empty())
    header.parameters.push_back({"SpectralIndex", options.cosmology.spectral_index});
  return header;
}

Plan plan_run(const Context& context, const Options& options) {
  Plan plan;
  plan.options = options;
  plan.growth = growth_at(options.expansion(), options.scale_factor());
  plan.power = power_of(context.comm, options);
  plan.power_source = options.power.empty() ? "Eisenstein & Hu 1998" : options.power;
  plan.power_path = options.power.empty() ? plan.power_source
                                          : context.comm.broadcast(app::whole_path(options.power));
  plan.sigma8 = plan.power.sigma(8);
  plan.num_particles = options.num * options.num * options.num;
  plan.particle_mass = total_mass(options, {}) / static_cast<double>(plan.num_particles);
  check_extremes(plan);
  check_modes(plan);
  if (!options.power.empty()) {
    plan.sigma8_beyond_table = plan.power.part_beyond_table(8);
    check_table(plan);
  }
  plan.ranks = app::survey_ranks(context, options.exec.processor == Processor::automatic);
  plan.decomposition = decompose(options, plan.ranks.num_ranks).describe();
  plan.output = app::name_output(options.output, "ics.hdf5", io::Content::snapshot);
  plan.num_files = options.files.num_files_on(plan.ranks.num_ranks);
  app::RunFiles files{{}, {plan.output}, {{"--json", options.json}}, plan.num_files};
  if (!options.power.empty()) files.inputs.push_back(options.power);
  check_names(context.comm, files, plan.warnings);
  plan.estimate = estimate_needs(plan);
  app::check_memory(context,
                    {plan.estimate.memory_per_rank,
                     fmt::format("--num {}: {} particles", options.num, plan.num_particles),
                     "use fewer, or more machines"},
                    options.dry_run, plan.warnings);
  app::check_device_need(context, device_need(plan), options.dry_run, plan.warnings);
  return plan;
}

// The calls of run.cpp, one after the other.
app::DeviceNeed device_need(const Plan& plan) {
  const Options& options = plan.options;
  return {
      fmt::format("{} particles of initial conditions", plan.num_particles), [options](int ranks) {
        const MeshSize mesh = decompose(options, ranks).mesh_size(ranks, options.double_precision);
        return modes_bytes(mesh) + displace_need(mesh, options.lpt).peak;
      }};
}

}  // namespace zhalo::ics_app
