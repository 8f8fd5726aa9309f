#include "apps/ics/ics.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "apps/cli/command.hpp"
#include "apps/report/results.hpp"

namespace zhalo::ics_app {
namespace {

/// The particles where the writer can see them.
template <class T>
struct HostColumns {
  std::array<app::OnHost<T>, 3> pos;
  std::array<app::OnHost<T>, 3> velocity;
  app::OnHost<std::uint64_t> id;

  HostColumns(const Exec& exec, const LptParticles<T>& particles)
      : pos(columns(exec, particles.pos)),
        velocity(columns(exec, particles.velocity)),
        id(exec, particles.id) {}

  io::SnapshotParticles<T> view(double mass) const {
    io::SnapshotParticles<T> view;
    view.num = id.view().size();
    for (std::size_t axis = 0; axis < 3; ++axis) {
      view.pos[axis] = pos[axis].view().data();
      view.velocity[axis] = velocity[axis].view().data();
    }
    view.id = id.view().data();
    view.mass = mass;
    return view;
  }

 private:
  static std::array<app::OnHost<T>, 3> columns(const Exec& exec,
                                               const std::array<Buffer<T>, 3>& buffers) {
    return {app::OnHost<T>(exec, buffers[0]), app::OnHost<T>(exec, buffers[1]),
            app::OnHost<T>(exec, buffers[2])};
  }
};

/// Of all ranks. Collective.
template <class T>
Result summarise(const Communicator& comm, const io::SnapshotParticles<T>& particles,
                 const Options& options) {
  const double spacing = options.box / static_cast<double>(options.num);
  double displacement = 0, velocity = 0, max_squared = 0;
  for (Index i = 0; i < particles.num; ++i) {
    auto cell = static_cast<Index>(particles.id[i] - 1);
    double squared = 0;
    for (std::size_t axis = 3; axis-- > 0; cell /= options.num) {
      const double centre = (static_cast<double>(cell % options.num) + 0.5) * spacing;
      squared += std::pow(
          std::remainder(static_cast<double>(particles.pos[axis][i]) - centre, options.box), 2);
      velocity += std::pow(static_cast<double>(particles.velocity[axis][i]), 2);
    }
    displacement += squared;
    max_squared = std::max(max_squared, squared);
  }
  const double num = std::pow(static_cast<double>(options.num), 3);
  Result result;
  result.rms_displacement = std::sqrt(comm.sum(displacement) / num);
  result.max_displacement = std::sqrt(comm.max(max_squared));
  result.rms_velocity = std::sqrt(comm.sum(velocity) / num);
  return result;
}

template <class T>
LptParticles<T> displaced_particles(const Context& context, const Plan& plan) {
  const Options& options = plan.options;
  const Decomposition decomposition = decompose(options, context.comm.size());
  const Modes<T> linear = random_modes<T>(context, decomposition, plan.power, options.random);
  constexpr double km_per_s = 100;  // in Mpc/h times H0
  return displace(context, linear,
                  {options.scale_factor(), options.expansion(), options.lpt, km_per_s});
}

template <class T>
Result make_particles_of(const Context& context, const Plan& plan, io::StagedFiles& files) {
  const LptParticles<T> made = displaced_particles<T>(context, plan);
  HostColumns<T> particles(context.exec, made);
  const ScopedTimer timer(context.timers, "write");
  io::write_snapshot(files, plan.output.name, particles.view(plan.particle_mass), header_of(plan),
                     plan.options.files);
  return summarise(context.comm, particles.view(plan.particle_mass), plan.options);
}

/// The largest power of two below the box's side.
double power_below(double box) { return std::exp2(std::ceil(std::log2(box)) - 1); }

/// Between coordinates of float32 in the last interval of powers of two.
double largest_step(double box) {
  return power_below(box) * static_cast<double>(std::numeric_limits<float>::epsilon());
}

/// Root of the mean square of what vectors lose by rounding, for particles everywhere in the box.
double rounding_noise(double box) {
  // The mean square on an axis is a step's square / 12. In the intervals below the last, steps and
  // lengths are halved again and again: 1 / 8 + 1 / 64 + .. = 1 / 7.
  const double power = power_below(box);
  return largest_step(box) * std::sqrt(3 * ((box - power) + power / 7) / box / 12);
}

/// Of displacements that are lost where coordinates are rounded.
void check_rounding(const Options& options, Result& result) {
  constexpr double max_noise = 0.01;  // of the displacement
  const double noise = rounding_noise(options.box);
  const bool is_displaced = options.num > 2;  // else the plan has warned
  if (options.double_precision || !is_displaced || noise <= max_noise * result.rms_displacement)
    return;
  const std::string lost =
      noise < result.rms_displacement
          ? fmt::format("is more than {}% of the displacements, {:.3g} Mpc/h rms", 100 * max_noise,
                        result.rms_displacement)
          : "is more than the displacements, which are lost";
  result.warnings.push_back(fmt::format(
      "--box-size {}: float32 coordinates are up to {:.3g} Mpc/h apart, and their rounding, {:.3g} "
      "Mpc/h rms, {} (use --double)",
      options.box, largest_step(options.box), noise, lost));
}

/// Makes the particles and writes them to `files`, for app::commit. The phases go to
/// context.timers. Collective.
Result make_particles(const Context& context, const Plan& plan, io::StagedFiles& files) {
  const auto devices = app::look_after_devices(context, device_need(plan));
  Result result = plan.options.double_precision ? make_particles_of<double>(context, plan, files)
                                                : make_particles_of<float>(context, plan, files);
  check_rounding(plan.options, result);
  result.written = app::sync_to_disk(context, {{&files}, {}});
  return result;
}

// The command. ics --num N --box-size L: a snapshot of initial conditions.

void run(const Context& context, const Options& options, app::Progress& progress) {
  app::RequestedRun run(context.comm, options, progress);
  const Plan plan = plan_run(context, options);
  const std::string& folder = plan.output.directory;
  app::run_planned(
      run, plan_report(plan, run.is_verbose()), [&] { app::check_directory(context.comm, folder); },
      [&] { return io::StagedFiles(context.comm, folder); },
      [&](io::StagedFiles& files, app::Report& report) {
        Result result = make_particles(context, plan, files);
        app::conclude(context, progress, report, result);
        return result_rows(plan, result);
      });
}

}  // namespace
}  // namespace zhalo::ics_app

int main(int argc, char** argv) {
  return zhalo::app::run_main("ics", argc, argv, zhalo::ics_app::parse_options,
                              zhalo::ics_app::run);
}
