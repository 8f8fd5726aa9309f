// A call asks a device for a stated number of launches, waits and allocations at most, whatever the
// number of particles: each costs microseconds in which a device does nothing.
#include <catch2/catch.hpp>

#include <map>
#include <string>

#include "tests/device/counted.hpp"

namespace zhalo::emulated {
namespace {

struct Budget {
  std::int64_t launches = 0;
  std::int64_t waits = 0;
  std::int64_t allocations = 0;
};

/// By the part of the name before the first slash. A catalogue of a domain sums each group twice,
/// sorts members and hashes them.
const std::map<std::string, Budget> budgets = {
    {"fof", {24, 5, 0}}, {"catalogue", {44, 14, 0}}, {"knn", {30, 8, 0}}};

/// Of calls on a grid, on one rank.
struct MeshBudget {
  std::int64_t launches = 0;
  std::int64_t waits = 0;
  std::int64_t bytes_to_host = 0;
};

/// A power spectrum brings 3 numbers of each of its n / 2 bins to the host, of n^3 cells.
const std::map<std::string, MeshBudget> mesh_budgets = {
    {"paint", {4, 2, 128}}, {"paint_masses", {9, 2, 192}},   {"readout", {2, 2, 96}},
    {"fft", {6, 1, 0}},     {"power_spectrum", {2, 1, 384}}, {"random_modes", {1, 0, 0}}};

}  // namespace

TEST_CASE("calls on grids keep within their budgets of launches, waits and bytes to the host") {
  for (const Index num : {4096, 32768}) {
    for (const Counted& one : count_mesh_cases(num)) {
      INFO(one.name << " of " << num << " particles or cells");
      const MeshBudget& budget = mesh_budgets.at(one.name.substr(0, one.name.find('/')));
      CHECK(one.of(Event::launch) > 0);
      CHECK(one.of(Event::launch) <= budget.launches);
      CHECK(one.of(Event::synchronise) <= budget.waits);
      CHECK(one.of(Event::bytes_to_host) <= budget.bytes_to_host);
      CHECK(one.of(Event::malloc) == 0);
    }
  }
}

TEST_CASE("calls keep within their budgets of launches, waits and allocations") {
  for (const Index num : {2000, 20000}) {
    for (const Counted& one : count_cases(num)) {
      INFO(one.name << " of " << num << " particles");
      const Budget& budget = budgets.at(one.name.substr(0, one.name.find('/')));
      CHECK(one.of(Event::launch) > 0);
      CHECK(one.of(Event::launch) <= budget.launches);
      CHECK(one.of(Event::synchronise) <= budget.waits);
      CHECK(one.of(Event::malloc) <= budget.allocations);
    }
  }
}

}  // namespace zhalo::emulated
