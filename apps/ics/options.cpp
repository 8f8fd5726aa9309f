#include "apps/ics/ics.hpp"

#include <cmath>

#include <fmt/format.h>

#include "apps/cli/options.hpp"

namespace zhalo::ics_app {
namespace {

using app::demand;

/// What is on the command line, not checked yet.
struct RawOptions : app::RawRunOptions {
  std::optional<Index> num;
  std::optional<double> box;
  std::optional<Index> seed;
  std::optional<double> omega_lambda;
  std::optional<double> spectral_index;
  std::optional<double> sigma8;
};

constexpr const char* summary =
    "Makes initial conditions: particles on a grid, displaced by a Gaussian random field.\n"
    "Writes them as a snapshot of GADGET-4, which the other commands read.";

constexpr const char* examples = R"(Examples:
  ics --num 64 --box-size 50                262144 particles at redshift 49: ics.hdf5
  ics --num 512 --box-size 250 --redshift 99 --seed 7 --double -o ics_512.hdf5
  ics --num 64 --box-size 50 --linear-power linear.txt
                                            spectrum from a table at redshift 0
  ics --num 4096 --box-size 1000 --dry-run  what a run needs
Units are Mpc/h, 1e10 Msun/h, km/s. The particles' random numbers follow from the seed and the wave
vector alone: more particles in the same box have the same large scales
(docs/initial-conditions.md).
Under mpirun or srun each rank makes its share of the planes.)";

void add_particle_options(app::CommandLine& command, Options& options, RawOptions& raw) {
  command.add_option("--num", raw.num, "Particles along each axis of the cube", "N");
  command.add_option("--box-size", raw.box, "Side of the periodic box in Mpc/h", "L");
  command.add_option("--redshift", options.redshift, "Of the snapshot [49]", "Z");
  command.add_option("--lpt", options.lpt, "Order of the displacements: 1 (Zel'dovich) or 2 [2]",
                     "ORDER");
  command.add_natural_number("--seed", raw.seed, "Seed of the random numbers [1]", "S");
  command.add_flag("--fixed", options.random.fixed_amplitude,
                   "Amplitudes are exactly the spectrum's, only phases are random");
  command.add_flag("--inverted", options.random.inverted,
                   "All phases turned by pi: the partner of a pair");
  command.add_flag("--double", options.double_precision,
                   "Compute and store in float64, not float32");
  command.add_option("-o,--output", options.output, "File of the snapshot [ics.hdf5]", "OUT.hdf5");
}

void add_cosmology_options(app::CommandLine& command, Options& options, RawOptions& raw) {
  EisensteinHu& cosmology = options.cosmology;
  command.add_option("--omega-m", cosmology.omega_matter, "Matter, baryons included, today [0.3]",
                     "X");
  command.add_option("--omega-l", raw.omega_lambda, "Cosmological constant [1 - omega-m: flat]",
                     "X");
  command.add_option("--omega-b", cosmology.omega_baryon, "Baryons [0.045]", "X");
  command.add_option("--hubble", cosmology.hubble, "H0 in 100 km/s/Mpc [0.7]", "X");
  command.add_option("--ns", raw.spectral_index, "Index of the primordial spectrum [0.96]", "X");
  command.add_option("--sigma8", raw.sigma8,
                     "Normalisation [0.8; with --linear-power the table's own]", "X");
  command.add_option("--linear-power", options.power,
                     "Linear spectrum: text, k [h/Mpc] and P [(Mpc/h)^3] at redshift 0", "TABLE");
}

void take_particles(const RawOptions& raw, Options& options) {
  demand(raw.num.has_value(),
         "--num is not given: how many particles along each axis? (ics --help shows the options)");
  demand(raw.box.has_value(),
         "--box-size is not given: which side in Mpc/h? (ics --help shows the options)");
  options.num = *raw.num;
  options.box = *raw.box;
  demand(options.num >= 1 && options.num <= max_cells,
         fmt::format("--num is {} (must be 1 to {}, the particles along each axis)", options.num,
                     max_cells));
  demand(app::is_positive(options.box),
         fmt::format("--box-size is {} (must be positive and finite, in Mpc/h)", options.box));
  // Within the scale factors of growth_at().
  demand(options.redshift > -0.9999 && options.redshift <= 1e29,
         fmt::format("--redshift is {} (must be more than -0.9999 and at most 1e29, for which the "
                     "linear growth is computed)",
                     options.redshift));
  demand(options.lpt == 1 || options.lpt == 2,
         fmt::format("--lpt is {} (must be 1 or 2)", options.lpt));
  options.random.seed = static_cast<std::uint64_t>(raw.seed.value_or(1));
}

void take_cosmology(const RawOptions& raw, Options& options) {
  EisensteinHu& cosmology = options.cosmology;
  const auto demand_positive = [](const char* option, double value) {
    demand(app::is_positive(value),
           fmt::format("{} is {} (must be positive and finite)", option, value));
  };
  demand_positive("--omega-m", cosmology.omega_matter);
  demand_positive("--hubble", cosmology.hubble);
  demand(cosmology.hubble <= 10,
         fmt::format("--hubble is {0} (in units of 100 km/s/Mpc: {1} for {0} km/s/Mpc)",
                     cosmology.hubble, cosmology.hubble / 100));
  demand_positive("--sigma8", raw.sigma8.value_or(1));
  demand(cosmology.omega_baryon >= 0 && cosmology.omega_baryon < cosmology.omega_matter,
         fmt::format("--omega-b is {} (must be 0 or more and less than --omega-m, which is {})",
                     cosmology.omega_baryon, cosmology.omega_matter));
  options.omega_lambda = raw.omega_lambda.value_or(1 - cosmology.omega_matter);
  demand(std::isfinite(options.omega_lambda),
         fmt::format("--omega-l is {} (must be finite)", options.omega_lambda));
  demand(options.power.empty() || !raw.spectral_index,
         "--ns is given with --linear-power: the table has the whole spectrum");
  cosmology.spectral_index = raw.spectral_index.value_or(cosmology.spectral_index);
  options.normalised = options.power.empty() || raw.sigma8;
  cosmology.sigma8 = raw.sigma8.value_or(cosmology.sigma8);
}

}  // namespace

std::variant<Options, std::string> parse_options(int argc, const char* const* argv) {
  Options options;
  RawOptions raw;
  app::CommandLine command(
      {.name = "ics",
       .usage = "--num N --box-size L [OPTION...]",
       .summary = summary,
       .footer = examples,
       .other_names = {
           {"--box", "--box-size"}, {"--boxsize", "--box-size"}, {"--power", "--linear-power"}}});
  add_particle_options(command, options, raw);
  add_cosmology_options(command, options, raw);
  app::add_run_options(command, options, raw,
                       "Show particles, memory and output size; make nothing");
  if (auto text = app::read_options(command, raw, argc, argv)) return *text;
  resolve_run(raw, options);
  options.output_folder = app::folder_of(options.output);
  take_particles(raw, options);
  take_cosmology(raw, options);
  return options;
}

}  // namespace zhalo::ics_app
