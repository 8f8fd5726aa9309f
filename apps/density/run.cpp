#include "apps/density/run.hpp"

#include <fmt/format.h>

#include "apps/cli/output.hpp"
#include "apps/cli/snapshot.hpp"
#include "apps/density/captions.hpp"
#include "apps/density/make.hpp"
#include "apps/density/picture.hpp"
#include "apps/density/power_table.hpp"
#include "apps/density/projection.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/io/load.hpp"

namespace zhalo::density_app {
namespace {

/// Ends at the first mass, as a rule. Those of a device are left to the library, which says it in
/// its own words.
template <class Real>
bool has_masses(const Context& context, const Particles<Real>& particles) {
  if (!std::holds_alternative<Host>(context.exec)) return true;
  for (const ParticleSegment<Real>& segment : particles.segments) {
    for (Index i = 0; i < segment.num; ++i) {
      if (!(segment.mass[i] <= 0)) return true;
    }
  }
  return false;
}

template <class Real>
void check_masses(const Context& context, const Particles<Real>& particles, const Plan& plan) {
  if (plan.options.by_number || context.comm.max(Index{has_masses(context, particles)}) > 0) return;
  throw InputError(
      fmt::format("the masses of the {} particles in '{}' sum to 0 or less, and there is no mean "
                  "of them to divide by: "
                  "--weights number counts particles",
                  plan.num_particles, plan.snapshot.path));
}

/// The particles are gone when this returns.
template <class Real>
Made load_and_paint(const Context& context, const Sources& sources, const Plan& plan) {
  const auto loaded = [&] {
    const ScopedTimer timer(context.timers, "read");
    const io::LoadOptions wanted{
        .velocities = false, .ids = false, .masses = !plan.options.by_number};
    return io::load_particles<Real>(context, sources.particles, plan.options.types, wanted);
  }();
  check_masses(context, loaded.particles, plan);
  return paint_density(context, loaded.particles, plan);
}

PowerNumbers put_power(const Context& context, const Plan& plan, Made& made, app::TextFile& file) {
  const Options& options = plan.options;
  compensate(context, *made.modes, options.window, power_compensation(options));
  const PowerSpectrum spectrum = power_spectrum(
      context, *made.modes, {.bins = options.bins, .multipole_axis = options.multipole_axis});
  file.put(power_table(plan, made.painted, spectrum));
  return {shot_noise(made.painted, plan.grid), spectrum.fundamental, spectrum.nyquist,
          static_cast<Index>(spectrum.bins.size())};
}

/// Rank 0 draws.
std::optional<HaloNumbers> put_picture(const Context& context, const Sources& sources,
                                       const Plan& plan, const Made& made, app::TextFile& file) {
  const ScopedTimer timer(context.timers, "draw");
  std::vector<double> projected = project(context, *made.field, plan.options.view, plan.depth);
  const std::vector<io::Halo> haloes = shown_haloes(sources.haloes, plan);
  context.comm.together([&] {
    file.put(context.comm.rank() == 0 ? draw(plan, std::move(projected), haloes) : std::string());
  });
  if (plan.options.haloes.empty()) return std::nullopt;
  return HaloNumbers{static_cast<Index>(sources.haloes.haloes.size()),
                     static_cast<Index>(haloes.size())};
}

}  // namespace

Outputs::Outputs(const Communicator& comm, const Plan& plan)
    : power(comm, "--power", plan.options.power), image(comm, "--image", plan.options.image) {
  if (writes_field(plan.options)) field.emplace(comm, plan.output.directory);
}

void check_outputs(const Communicator& comm, const Plan& plan) {
  const app::TextFile power(comm, "--power", plan.options.power);
  const app::TextFile image(comm, "--image", plan.options.image);
  if (writes_field(plan.options)) app::check_place(comm, plan.output.directory);
}

app::Results Outputs::results() {
  app::Results all{{}, {&power, &image}};
  if (field) all.files.push_back(&*field);
  return all;
}

Result make_density(const Context& context, const Sources& sources, const Plan& plan,
                    Outputs& outputs) {
  Made made = plan.double_positions ? load_and_paint<double>(context, sources, plan)
                                    : load_and_paint<float>(context, sources, plan);
  app::check_wrapped({made.painted.num_particles, made.painted.num_wrapped}, plan.grid.box,
                     plan.options.wrap_all);
  transform_density(context, plan, made);
  Result found;
  found.painted = made.painted;
  if (made.modes) found.power = put_power(context, plan, made, outputs.power);
  made.modes.reset();
  if (made.field) found.field = numbers_of(context, *made.field);
  if (outputs.field)
    io::write_field(*outputs.field, context, *made.field, describe_field(plan, made.painted),
                    plan.snapshot);
  if (!plan.options.image.empty())
    found.haloes = put_picture(context, sources, plan, made, outputs.image);
  const app::ResultNames names = app::bring_to_disk(context, outputs.results());
  found.files = names.paths;
  found.num_files = names.num_files;
  found.measured = app::measure(context);
  return found;
}

}  // namespace zhalo::density_app
