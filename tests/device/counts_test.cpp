// A call asks a device for a stated number of launches and waits at most, and for no memory,
// whatever the number of particles: each costs microseconds in which a device does nothing. What
// goes to the host does not grow with the particles either, but for a catalogue's table.
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
};

/// By the part of the name before the first slash. Waits are for what the host has to know: where
/// positions lie, how many leaves and nodes there are, and that the results are there; of a
/// catalogue of a domain what is wrong with masses, types and labels, how many groups there are,
/// their lengths and labels, and the table. Its bytes are those of the table.
const std::map<std::string, Budget> budgets = {
    {"fof", {20, 3, 256}}, {"catalogue", {33, 4, 16384}}, {"knn", {26, 3, 256}}};

void check_budget(const Counted& one, const Budget& budget) {
  CHECK(one.of(Event::launch) > 0);
  CHECK(one.of(Event::launch) <= budget.launches);
  CHECK(one.of(Event::synchronise) <= budget.waits);
  CHECK(one.of(Event::bytes_to_host) <= budget.bytes_to_host);
  CHECK(one.of(Event::malloc) == 0);
}

/// Of calls on a grid, on one rank. A power spectrum of n^3 cells brings 3 numbers of each of its
/// n / 2 bins to the host.
const std::map<std::string, Budget> mesh_budgets = {
    {"paint", {4, 2, 128}}, {"paint_masses", {9, 2, 192}},   {"readout", {2, 2, 96}},
    {"fft", {6, 1, 0}},     {"power_spectrum", {2, 1, 384}}, {"random_modes", {1, 0, 0}}};

}  // namespace

TEST_CASE("calls on grids keep within their budgets of launches, waits and bytes to the host") {
  for (const Index num : {4096, 32768}) {
    for (const Counted& one : count_mesh_cases(num)) {
      INFO(one.name << " of " << num << " particles or cells");
      check_budget(one, mesh_budgets.at(one.name.substr(0, one.name.find('/'))));
    }
  }
}

TEST_CASE("calls keep within their budgets of launches, waits and bytes to the host") {
  for (const Index num : {2000, 20000}) {
    for (const Counted& one : count_cases(num)) {
      INFO(one.name << " of " << num << " particles");
      check_budget(one, budgets.at(one.name.substr(0, one.name.find('/'))));
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
