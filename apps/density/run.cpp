#include "apps/density/density.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <utility>
#include <vector>

#include "apps/cli/command.hpp"
#include "apps/cli/options.hpp"
#include "apps/report/results.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/core/for_each.hpp"
#include "zhalo/io/load.hpp"

namespace zhalo::density_app {
namespace {

/// What painting made: the field in units of the mean, or modes of the overdensity. They are not
/// compensated.
struct Made {
  std::optional<Field<float>> field;
  std::optional<Modes<float>> modes;
  PaintReport painted;
};

bool field_is_painted(const Options& options) {
  return needs_field(options) && !options.interlaced &&
         field_compensation(options) == Compensation::none;
}

/// The overdensity becomes the density in units of the mean.
void set_mean_to_one(const Context& context, Modes<float>& modes) {
  const GridIndex mean{};
  if (!modes.layout().index_box.contains(mean)) return;
  const std::complex<float> one = 1;
  copy_bytes(context.exec, modes.span().data() + modes.layout().offset(mean), &one, sizeof one);
}

Field<float> compensated_field(const Context& context, Modes<float> modes, const Options& options) {
  compensate(context, modes, options.window, field_compensation(options));
  if (options.interlaced) remove_nyquist(context, modes);
  set_mean_to_one(context, modes);
  Field<float> field(context, modes.decomposition());
  to_field(context, std::move(modes), field);
  return field;
}

/// Collective.
template <class Real>
Made paint_density(const Context& context, const Particles<Real>& particles, const Plan& plan) {
  const Options& options = plan.options;
  const Decomposition decomposition(plan.grid, context.comm.size());
  PaintOptions paint_options;
  paint_options.window = options.window;
  paint_options.weights = options.by_number ? Weights::unit : Weights::mass;
  Made made;
  if (field_is_painted(options)) {
    made.field.emplace(context, decomposition);
    paint_options.values = CellValues::mean_units;
    made.painted = paint(context, particles, *made.field, paint_options);
    return made;
  }
  DensityModes<float> density =
      density_modes<float>(context, decomposition, particles,
                           {.paint = paint_options, .interlaced = options.interlaced});
  made.painted = density.report;
  made.modes.emplace(std::move(density.modes));
  return made;
}

/// Of some cells; instead of the deviation the sum of its squares.
FieldNumbers numbers_of_some(Span<const float> cells) {
  FieldNumbers numbers{std::numeric_limits<double>::infinity(),
                       -std::numeric_limits<double>::infinity(), 0};
  for (const float cell : cells) {
    const double value = cell;
    numbers.min = std::min(numbers.min, value);
    numbers.max = std::max(numbers.max, value);
    numbers.deviation += (value - 1) * (value - 1);
  }
  return numbers;
}

/// Cells that are summed by one thread: sums are the same for any number of threads.
constexpr Index part_size = 1 << 16;

/// Over all ranks. Collective.
FieldNumbers numbers_of(const Context& context, const Field<float>& field) {
  const ScopedTimer timer(context.timers, "statistics");
  const app::OnHost<float> on_host(context.exec, field.span());
  const Span<const float> cells = on_host.view();
  std::vector<FieldNumbers> parts(
      static_cast<std::size_t>((cells.size() + part_size - 1) / part_size));
  const Exec host = std::holds_alternative<Host>(context.exec) ? context.exec : host_exec();
  for_each(host, static_cast<Index>(parts.size()), [cells, to = parts.data()](Index i) {
    const Index first = i * part_size;
    to[i] = numbers_of_some(cells.subspan(first, std::min(part_size, cells.size() - first)));
  });
  FieldNumbers all = numbers_of_some({});
  for (const FieldNumbers& part : parts)
    all = {std::min(all.min, part.min), std::max(all.max, part.max),
           all.deviation + part.deviation};
  const Communicator& comm = context.comm;
  const auto num = static_cast<double>(field.decomposition().grid().size());
  return {comm.min(all.min), comm.max(all.max), std::sqrt(comm.sum(all.deviation) / num)};
}

/// Ends at the first mass, as a rule. Those of a device are left to the library, which says it
/// itself.
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
                  "of them to divide by: --weights number counts particles",
                  plan.num_particles, plan.snapshot.path));
}

/// The particles are gone when this returns.
template <class Real>
Made load_and_paint(const Context& context, const Sources& sources, const Plan& plan) {
  const auto loaded = [&] {
    const ScopedTimer timer(context.timers, "read");
    const io::LoadOptions wanted{.velocities = false,
                                 .ids = false,
                                 .masses = !plan.options.by_number,
                                 .redshift_space = plan.redshift_space};
    return io::load_particles<Real>(context, sources.particles, plan.options.types, wanted);
  }();
  check_masses(context, loaded.particles, plan);
  return paint_density(context, loaded.particles, plan);
}

PowerNumbers put_power(const Context& context, const Plan& plan, const Made& made,
                       app::TextFile& file) {
  const Options& options = plan.options;
  const PowerOptions power{.bins = options.bins,
                           .multipole_axis = options.multipole_axis,
                           .window = options.window,
                           .compensation = power_compensation(options)};
  const PowerSpectrum spectrum =
      made.modes ? power_spectrum(context, *made.modes, power)
                 : power_spectrum(context, to_modes(context, *made.field), power);
  file.put(power_table(plan, made.painted, spectrum));
  return {shot_noise(made.painted, plan.grid), spectrum.fundamental, spectrum.nyquist,
          options.bins.k_max.value_or(spectrum.nyquist), static_cast<Index>(spectrum.bins.size())};
}

/// What is no longer needed becomes room for the file on its way to the disk: memory that this
/// process has touched, which where machines are virtual is much quicker than memory that no one
/// has.
void give_back_memory(const Context& context) {
  if (!std::holds_alternative<Host>(context.exec)) return;
  const ScopedTimer timer(context.timers, "write");
  memory(context.exec)->release();
}

/// Rank 0 draws.
std::optional<HaloNumbers> put_picture(const Context& context, const Plan& plan, const Made& made,
                                       app::TextFile& file) {
  const ScopedTimer timer(context.timers, "draw");
  std::vector<double> projected = project(context, *made.field, plan.options.view, plan.depth);
  context.comm.together([&] {
    file.put(context.comm.rank() == 0 ? draw(plan, std::move(projected)) : std::string());
  });
  if (plan.options.haloes.empty()) return std::nullopt;
  return HaloNumbers{plan.haloes.num_total, std::ssize(plan.haloes.haloes)};
}

/// Reads, paints, transforms and writes to `outputs`, for app::commit. The phases go to
/// context.timers. Collective.
Result make_density(const Context& context, const Sources& sources, const Plan& plan,
                    Outputs& outputs) {
  const auto devices = app::look_after_devices(context, device_need(plan));
  Made made = plan.double_positions ? load_and_paint<double>(context, sources, plan)
                                    : load_and_paint<float>(context, sources, plan);
  app::check_wrapped({made.painted.num_particles, made.painted.num_wrapped}, plan.grid.box,
                     plan.options.wrap_all);
  Result result;
  result.painted = made.painted;
  if (!plan.options.power.empty()) result.power = put_power(context, plan, made, outputs.power);
  if (made.modes && needs_field(plan.options))
    made.field.emplace(compensated_field(context, *std::move(made.modes), plan.options));
  made.modes.reset();
  if (made.field) result.field = numbers_of(context, *made.field);
  if (outputs.field) {
    give_back_memory(context);
    io::write_field(*outputs.field, context, *made.field, describe_field(plan, made.painted),
                    plan.snapshot);
  }
  if (!plan.options.image.empty()) result.haloes = put_picture(context, plan, made, outputs.image);
  result.written = app::sync_to_disk(context, outputs.results());
  return result;
}

// The command. density SNAPSHOT: the density field of a snapshot on a grid, its power spectrum, and
// a picture.

void run(const Context& context, const Options& options, app::Progress& progress) {
  app::RequestedRun run(context.comm, options, progress);
  const Sources sources = open_sources(context, options);
  const Plan plan = plan_run(context, sources, options);
  app::run_planned(
      run, plan_report(plan, run.is_verbose()), [&] { check_outputs(context.comm, plan); },
      [&] { return Outputs(context.comm, plan); },
      [&](Outputs& outputs, app::Report& report) {
        Result result = make_density(context, sources, plan, outputs);
        app::conclude(context, progress, report, result);
        return result_rows(plan, result);
      });
}

}  // namespace
}  // namespace zhalo::density_app

int main(int argc, char** argv) {
  return zhalo::app::run_main("density", argc, argv, zhalo::density_app::parse_options,
                              zhalo::density_app::run);
}
