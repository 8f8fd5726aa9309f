// Under ThreadSanitizer: races between the lanes of a warp and between blocks are reported, with
// file and line, and nothing else is. What the results are does not matter.
#include "tests/device/outcome.hpp"

namespace zhalo::testing {
namespace {

void check_race(const std::string& name, const std::string& functor) {
  for (const char* order : {"forward", "reversed", "random"}) {
    const std::string environment = std::string("ZHALO_EMULATED_ORDER=") + order;
    check_stops(name, "ThreadSanitizer: data race", environment);
    check_stops(name, functor, environment);
    check_stops(name, "planted.cu:", environment);
  }
}

}  // namespace

TEST_CASE("a missing sync is a race") { check_race("missing_sync", "Mirror<false>"); }

TEST_CASE("blocks that write to one address are a race") {
  check_race("block_race", "AddToOne");
  check_race("race_of_equal_threads", "AddToThread");
}

TEST_CASE("syncs, atomics and shared memory of one block after the other are no races") {
  const std::string right = run_planted("synced").output;
  CHECK_THAT(right, Catch::StartsWith("sum "));
  check_prints("synced", right, "ZHALO_EMULATED_ORDER=random");
  check_prints("atomics", "sum 499500.0\n");
  check_prints("in_bounds", "copied\n");
  check_prints("stale_shared_memory", "sum -nan\n");
}

}  // namespace zhalo::testing
