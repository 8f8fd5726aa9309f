#include "transform_case.hpp"

#include <chrono>
#include <vector>

#include "zhalo/core/buffer.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/fft/fft.hpp"

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
  both();  // plans of a device are finished when they first run
  using Clock = std::chrono::steady_clock;
  double seconds = 0;
  for ([[maybe_unused]] auto _ : state) {
    const Clock::time_point start = Clock::now();
    both();
    seconds += std::chrono::duration<double>(Clock::now() - start).count();
  }
  // Each transform of a real field in three dimensions reads and writes it three times at least
  // where nothing stays in a cache.
  const double bytes =
      2 * 6 * static_cast<double>(transform_case.num * transform_case.num * transform_case.num) *
      sizeof(T);
  state.counters["GB_per_second"] =
      bytes * 1e-9 * static_cast<double>(state.iterations()) / seconds;
  state.counters["plan_ms"] = 1e3 * fft.report().plan_seconds;
  state.counters["workspace_MB"] = static_cast<double>(fft.workspace_bytes()) * 1e-6;
}

}  // namespace

void run(benchmark::State& state, const TransformCase& transform_case) {
  try {
    if (transform_case.is_float) {
      run_as<float>(state, transform_case);
    } else {
      run_as<double>(state, transform_case);
    }
  } catch (
      const Error& error) {  // too large for the memory, or built without FFTW; the other cases run
    state.SkipWithError(error.what());
  }
}

}  // namespace zhalo::bench
