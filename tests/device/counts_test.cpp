// A call asks a device for a stated number of launches and waits at most, and for no memory,
// whatever the number of particles: each costs microseconds in which a device does nothing. What
// goes to the host does not grow with the particles either, but for a catalogue's table. Votes,
// shuffles and atomic additions of each particle have limits, too.
#include <catch2/catch.hpp>

#include <map>
#include <string>

#include "tests/device/counted.hpp"

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

/// Waits are for what the host has to know: where positions lie, how many leaves and nodes there
/// are, and that the results are there; of a catalogue of a domain what is wrong with masses, types
/// and labels, how many groups there are, their lengths and labels, and the table. Its bytes are
/// those of the table.
const Budgets budgets = {{"fof", {18, 3, 104, 2.5, 9, 0.12}},
                         {"catalogue", {31, 4, 16384, 0.05, 0, 1}},
                         {"knn", {20, 3, 120, 10, 5, 0.2}},
                         {"knn/self/uniform/k64", {20, 3, 120, 65, 10, 0.2}},
                         {"knn/self/clustered/k64", {20, 3, 120, 65, 10, 0.2}}};

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
                              {"fft", {6, 1, 0}},
                              {"power_spectrum", {2, 1, 384}},
                              {"random_modes", {1, 0, 0}}};

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

TEST_CASE("chunks of neighbours cost one wait more, however many there are") {
  const CountedChunks chunks = count_chunks(20000);
  CHECK(chunks.num_chunks >= 5);
  CHECK(chunks.counted.of(Event::synchronise) <= 4);
  CHECK(chunks.counted.of(Event::bytes_to_host) <= 4096);
}

}  // namespace zhalo::emulated
