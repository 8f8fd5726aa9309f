// A call asks a device for a stated number of launches and waits at most, and for no memory,
// whatever the number of particles: each costs microseconds in which a device does nothing. What
// goes to the host does not grow with the particles either, but for a catalogue's table. Votes,
// shuffles and atomic additions of each particle have limits, too.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <map>
#include <string>
#include <vector>

#include "tests/device/counted.hpp"
#include "tests/support/guarded_memory.hpp"
#include "tests/support/same_bits.hpp"
#include "zhalo/fft/fft.hpp"

namespace zhalo::emulated {
namespace {

struct Budget {
  std::int64_t launches = 0;
  std::int64_t waits = 0;
  std::int64_t bytes_to_host = 0;
  // Of each particle.
  double votes = 0;
  double shuffles = 0;
  double atomics = 0;
};

using Budgets = std::map<std::string, Budget>;

/// Waits are for what the host has to know: where positions lie, with a sample of them (12 KiB),
/// how many leaves and nodes there are, and that the results are there; of a catalogue of a domain
/// what is wrong with masses, types and labels, how many groups there are, their lengths and
/// labels, and the table. Its bytes are those of the table. Sorting 64 of them takes 80 shuffles.
const Budgets budgets = {{"fof", {19, 3, 12400, 2.5, 9, 0.12}},
                         {"catalogue", {31, 4, 16384, 0.05, 0, 1}},
                         {"knn", {21, 3, 12416, 10, 5, 0.2}},
                         {"knn/self/uniform/k64", {21, 3, 12416, 65, 95, 0.2}},
                         {"knn/self/clustered/k64", {21, 3, 12416, 65, 95, 0.2}}};

/// By the whole name, or by its part before the first slash.
const Budget& budget_of(const Budgets& all, const std::string& name) {
  const auto at = all.find(name);
  return at == all.end() ? all.at(name.substr(0, name.find('/'))) : at->second;
}

void check_budget(const Counted& one, const Budget& budget) {
  CHECK(one.of(Event::launch) > 0);
  CHECK(one.of(Event::launch) <= budget.launches);
  CHECK(one.of(Event::synchronise) <= budget.waits);
  CHECK(one.of(Event::bytes_to_host) <= budget.bytes_to_host);
  CHECK(one.of(Event::malloc) == 0);
  const auto num = static_cast<double>(one.num);
  CHECK(static_cast<double>(one.of(Event::ballot) + one.of(Event::any)) <= budget.votes * num);
  CHECK(static_cast<double>(one.of(Event::shuffle)) <= budget.shuffles * num);
  CHECK(static_cast<double>(one.of(Event::atomic)) <= budget.atomics * num);
}

/// Of calls on a grid, on one rank. A power spectrum of n^3 cells brings 3 numbers of each of its
/// n / 2 bins to the host.
const Budgets mesh_budgets = {{"paint", {4, 2, 128, 0, 2, 64}},
                              {"paint_domain/cic", {4, 2, 128, 0, 2, 5.5}},
                              {"paint_domain/pcs", {4, 2, 128, 0, 2, 20}},
                              {"paint_masses", {9, 2, 192, 0, 2, 8}},
                              {"readout", {2, 2, 96}},
                              {"fft", {2, 1, 0}},
                              {"power_spectrum", {2, 1, 384}},
                              {"random_modes", {1, 0, 0}}};

/// There and back on one rank.
struct Transformed {
  std::vector<std::complex<float>> modes;
  std::vector<float> cells;
  std::int64_t launches = 0;
};

Transformed transformed(Index side, Index alignment) {
  Context context;
  context.exec = cuda_exec();
  Fft<float> fft(context, Decomposition(Grid::cube(side), 1), {.norm = Norm::none});
  std::vector<float> values;
  for (Index i = 0; i < fft.cells().size; ++i) values.push_back(static_cast<float>(i * i % 11) - 5);
  testing::GuardedArray<float> cells(context.exec, values, alignment);
  testing::GuardedArray<std::complex<float>> modes(context.exec, fft.modes().size, alignment);
  const auto launches = [] { return counts().at(static_cast<std::size_t>(Event::launch)); };
  const std::int64_t before = launches();
  fft.forward(cells.span(), modes.span());
  Transformed result{modes.values(), {}, 0};
  fft.backward(modes.span(), cells.span());
  result.launches = launches() - before;
  result.cells = cells.values();
  return result;
}

template <class Number>
double difference_of(const std::vector<Number>& a, const std::vector<Number>& b) {
  REQUIRE(a.size() == b.size());
  double max = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    max = testing::larger(max, static_cast<double>(std::abs(a[i] - b[i])));
  return max;
}

}  // namespace

TEST_CASE("calls on grids keep within their budgets") {
  for (const Index num : {4096, 32768}) {
    for (const Counted& one : count_mesh_cases(num)) {
      INFO(one.name << " of " << num << " particles or cells");
      check_budget(one, budget_of(mesh_budgets, one.name));
    }
  }
}

TEST_CASE("calls keep within their budgets") {
  for (const Index num : {2000, 20000}) {
    for (const Counted& one : count_cases(num)) {
      INFO(one.name << " of " << num << " particles");
      check_budget(one, budget_of(budgets, one.name));
    }
  }
}

TEST_CASE("one rank transforms its grid at once, but by planes where arrays are less aligned") {
  constexpr Index side = 12;
  const Transformed grid = transformed(side, 8);
  const Transformed planes = transformed(side, 4);
  // Forward one, backward one and what comes before it.
  CHECK(grid.launches == 3);
  CHECK(planes.launches >= 6);
  // Modes of up to 12^3 x 5, and 12^3 times cells of up to 5.
  constexpr double bound = 1e-6 * side * side * side * 5;
  CHECK(difference_of(grid.modes, planes.modes) <= bound);
  CHECK(difference_of(grid.cells, planes.cells) <= bound);
}

TEST_CASE("chunks of neighbours cost one wait more, however many there are") {
  const CountedChunks chunks = count_chunks(20000);
  CHECK(chunks.num_chunks >= 5);
  CHECK(chunks.counted.of(Event::synchronise) <= 4);
  CHECK(chunks.counted.of(Event::bytes_to_host) <= 16384);
}

}  // namespace zhalo::emulated
