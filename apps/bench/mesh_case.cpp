#include "apps/bench/cases.hpp"

#include <optional>
#include <vector>

#include "apps/bench/footprint.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/core/timers.hpp"
#include "zhalo/domain/domain.hpp"
#include "zhalo/fft/fft.hpp"
#include "zhalo/mesh/density.hpp"
#include "zhalo/mesh/paint.hpp"
#include "zhalo/mesh/power_spectrum.hpp"

namespace zhalo::bench {
namespace {

template <class T>
void run_as(benchmark::State& state, const TransformCase& transform_case) {
  Context context;
  context.exec = transform_case.make_exec();
  Fft<T> fft(context, Decomposition(Grid::cube(transform_case.num), 1));
  const std::vector<T> zeros(static_cast<std::size_t>(fft.in_place_size()));
  Buffer<T> field = to_exec(context.exec, Span<const T>(zeros), "field");
  const auto both = [&] {
    fft.forward_in_place(field.span());
    fft.backward_in_place(field.span());
  };
  time_transforms(state, transform_case.num, sizeof(T), both);
  state.counters["plan_ms"] = 1e3 * fft.report().plan_seconds;
  state.counters["workspace_MB"] = static_cast<double>(fft.workspace_bytes()) * 1e-6;
}

}  // namespace

void time_transforms(benchmark::State& state, Index num, std::size_t real_bytes,
                     const std::function<void()>& both) {
  both();  // plans of a device are finished when they first run
  double seconds = 0;
  for ([[maybe_unused]] auto _ : state) {
    const Clock::time_point start = Clock::now();
    both();
    seconds += seconds_since(start);
  }
  const double bytes =
      2 * 6 * static_cast<double>(num * num * num) * static_cast<double>(real_bytes);
  state.counters["GB_per_second"] =
      bytes * 1e-9 * static_cast<double>(state.iterations()) / seconds;
}

void run(benchmark::State& state, const TransformCase& transform_case) {
  try {
    if (transform_case.by_cufft) {
      run_cufft(state, transform_case);
    } else if (transform_case.is_float) {
      run_as<float>(state, transform_case);
    } else {
      run_as<double>(state, transform_case);
    }
  } catch (
      const Error& error) {  // too large for the memory, or built without FFTW; the other cases run
    state.SkipWithError(error.what());
  }
}

namespace {

/// What one call needs and what it notes.
class Setup {
 public:
  Setup(const MeshCase& mesh_case, const PointSet& points)
      : case_(mesh_case),
        box_(Box::periodic_cube(points.box_length)),
        context_{.comm = {}, .exec = mesh_case.make_exec(), .timers = &timers_},
        points_(context_.exec, points),
        particles_(points_.particles()),
        field_(context_,
               Decomposition(
                   {{{mesh_case.num_cells, mesh_case.num_cells, mesh_case.num_cells}}, box_}, 1)) {
    if (case_.in_z_order) sort();
    paint(context_, particles_, field_, {.window = case_.window});
    timers_ = Timers{};
  }
  ~Setup() = default;
  Setup(const Setup&) = delete;
  Setup& operator=(const Setup&) = delete;

  void run() {
    switch (case_.work) {
      case MeshWork::paint: paint(context_, particles_, field_, {.window = case_.window}); break;
      case MeshWork::readout:
        benchmark::DoNotOptimize(readout(context_, field_, particles_, case_.window).data());
        break;
      case MeshWork::power: benchmark::DoNotOptimize(power().bins.data()); break;
    }
    wait(context_.exec);
  }

  /// From positions to power.
  PowerSpectrum power() {
    DensityOptions options;
    options.paint.window = case_.window;
    options.compensation = case_.compensation;
    const DensityModes<float> density =
        density_modes<float>(context_, field_.decomposition(), particles_, options);
    return power_spectrum(context_, density.modes);
  }

  std::vector<float> field() const { return to_host(context_.exec, field_.span()); }

  MemoryPool& pool() const { return *memory(context_.exec); }
  const Timers& timers() const { return timers_; }

 private:
  void sort() {
    sorted_.emplace(context_, particles_, box_);
    particles_ = sorted_->particles();
  }

  const MeshCase& case_;
  Box box_;
  Timers timers_;
  Context context_;
  BoundPoints points_;
  Particles<float> particles_;
  Field<float> field_;
  std::optional<Domain<float>> sorted_;
};

/// Bytes that have to move if each thing moves once: positions; for painting, which is a part of
/// power, the fixed-point weights (written as zeros, read and written, read) and the cells; for a
/// readout the cells and the values.
double min_bytes(const MeshCase& mesh_case, double num) {
  const double cells =
      static_cast<double>(mesh_case.num_cells * mesh_case.num_cells * mesh_case.num_cells);
  return mesh_case.work == MeshWork::readout ? num * 16 + cells * 4
                                             : num * 12 + cells * (4 * 8 + 4);
}

}  // namespace

void run(benchmark::State& state, const MeshCase& mesh_case, PointStore& point_sets) {
  const PointSet& points = point_sets.get(mesh_case.source);
  const double num = static_cast<double>(points.num());
  Setup setup(mesh_case, points);
  const Footprint footprint = footprint_of(setup.pool(), [&] { setup.run(); });
  double seconds = 0;
  for ([[maybe_unused]] auto _ : state) {
    const Clock::time_point start = Clock::now();
    setup.run();
    seconds += seconds_since(start);
  }
  const double calls = static_cast<double>(state.iterations());
  for (const Phase& phase : setup.timers().phases())
    state.counters[phase.name] = phase.seconds * 1e9 / (num * (calls + 1));
  state.counters["ns_per_particle"] = seconds * 1e9 / (num * calls);
  state.counters["particles_per_second"] = num * calls / seconds;
  state.counters["min_GB_per_second"] = min_bytes(mesh_case, num) * calls / seconds * 1e-9;
  state.counters["bytes_per_particle"] = footprint.pool / num;
}

std::vector<float> painted(const MeshCase& mesh_case, const PointSet& points) {
  return Setup(mesh_case, points).field();
}

std::vector<double> power(const MeshCase& mesh_case, const PointSet& points) {
  std::vector<double> numbers;
  for (const PowerBin& bin : Setup(mesh_case, points).power().bins)
    numbers.insert(numbers.end(), {bin.k_mean, bin.power, static_cast<double>(bin.num_modes)});
  return numbers;
}

void run(benchmark::State& state, const CopyCase& copy_case) {
  try {
    const Exec exec = copy_case.make_exec();
    const std::vector<std::byte> zeros(static_cast<std::size_t>(copy_case.num_bytes));
    const Buffer<std::byte> from = to_exec(exec, Span<const std::byte>(zeros), "copies");
    Buffer<std::byte> to(exec, copy_case.num_bytes, "copies");
    const auto copy = [&] {
      queue_copy(exec, to.data(), from.data(), zeros.size());
      wait(exec);
    };
    copy();
    double seconds = 0;
    for ([[maybe_unused]] auto _ : state) {
      const Clock::time_point start = Clock::now();
      copy();
      seconds += seconds_since(start);
    }
    // Each byte is read and written.
    const double bytes = 2 * static_cast<double>(copy_case.num_bytes);
    state.counters["GB_per_second"] =
        bytes * 1e-9 * static_cast<double>(state.iterations()) / seconds;
  } catch (const Error& error) {  // too large for the memory; the other cases run
    state.SkipWithError(error.what());
  }
}

}  // namespace zhalo::bench
