/// Prints what calls of the library ask of a device as a table for docs/benchmarks.md.
///   device_counts [NUM ...]     numbers of particles; 10000 and 100000 unless given
#include <fmt/format.h>

#include <cstdlib>

#include "tests/device/counted.hpp"

namespace zhalo::emulated {
namespace {

void print_row(const Counted& one) {
  const auto per_particle = [&](std::int64_t count) {
    return fmt::format("{:.3g}", static_cast<double>(count) / static_cast<double>(one.num));
  };
  fmt::print("| `{}` | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", one.name, one.num,
             one.of(Event::launch), one.of(Event::copy), one.of(Event::synchronise),
             one.of(Event::bytes_to_host), one.of(Event::malloc),
             per_particle(one.of(Event::ballot) + one.of(Event::any)),
             per_particle(one.of(Event::shuffle)), per_particle(one.of(Event::sync)),
             per_particle(one.of(Event::atomic)),
             per_particle(static_cast<std::int64_t>(one.bytes)));
}

void print_table(const std::vector<Index>& sizes) {
  fmt::print(
      "| case | particles | launches | copies | waits | to host | allocations | votes | shuffles "
      "| syncs | atomics | bytes |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: "
      "| ---: | ---: | "
      "---: |\n");
  for (const Index num : sizes) {
    for (const Counted& one : count_cases(num)) print_row(one);
  }
}

/// Grids and particles on them, as many of these as cells.
void print_mesh_table(const std::vector<Index>& sizes) {
  fmt::print(
      "| case | particles or cells | launches | copies | waits | bytes to the host | transformed "
      "bytes | atomics | bytes |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: "
      "|\n");
  for (const Index num : sizes) {
    for (const Counted& one : count_mesh_cases(num)) {
      const auto per_cell = [&](std::int64_t count) {
        return fmt::format("{:.3g}", static_cast<double>(count) / static_cast<double>(num));
      };
      fmt::print("| `{}` | {} | {} | {} | {} | {} | {} | {} | {} |\n", one.name, one.num,
                 one.of(Event::launch), one.of(Event::copy), one.of(Event::synchronise),
                 one.of(Event::bytes_to_host), per_cell(one.of(Event::transformed_bytes)),
                 per_cell(one.of(Event::atomic)), per_cell(static_cast<std::int64_t>(one.bytes)));
    }
  }
}

}  // namespace
}  // namespace zhalo::emulated

int main(int argc, char** argv) {
  std::vector<zhalo::Index> sizes;
  for (int i = 1; i < argc; ++i) sizes.push_back(std::atoll(argv[i]));
  if (sizes.empty()) sizes = {10000, 100000};
  zhalo::emulated::print_table(sizes);
  fmt::print("\n");
  zhalo::emulated::print_mesh_table(sizes);
}
