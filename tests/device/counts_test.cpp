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

}  // namespace

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
