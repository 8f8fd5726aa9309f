#include "apps/bench/cases.hpp"
#include "apps/bench/footprint.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::bench {

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
