// Devices, streams and failures as the environment asks for them.
#include "tests/device/outcome.hpp"

namespace zhalo::testing {

TEST_CASE("several devices, or none") {
  check_prints("each_device", "sum 100.0\nsum 100.0\n", "ZHALO_EMULATED_DEVICES=2");
  check_prints("each_device", "sum 100.0\nsum 100.0\n", "ZHALO_EMULATED_DEVICES=4");
  const Outcome none = run_planted("throw_error", "ZHALO_EMULATED_DEVICES=0");
  CHECK_THAT(none.output, Catch::Contains("this machine has no CUDA device"));
}

TEST_CASE("queued work runs when something waits for it, or at once") {
  check_prints("change_before_wait", "found 2.0\n");
  check_prints("change_before_wait", "found 1.0\n", "ZHALO_EMULATED_STREAMS=immediate");
}

TEST_CASE("any number of threads gives the same results") {
  for (const char* workers : {"1", "2", "3", "16"}) {
    const std::string environment = std::string("ZHALO_EMULATED_WORKERS=") + workers;
    check_prints("atomics", "sum 499500.0\n", environment);
    check_prints("in_bounds", "copied\n", environment);
  }
}

TEST_CASE("calls fail on demand, and the library says so") {
  const auto fails = [](const std::string& call, const std::string& words) {
    INFO(call);
    const Outcome outcome = run_planted("throw_error", "ZHALO_EMULATED_FAIL=" + call);
    CHECK_THAT(outcome.output, Catch::StartsWith("error: ") && Catch::Contains(words));
    CHECK(outcome.status == 0);  // nothing is lost on the way
  };
  fails("malloc:1,malloc:2", "out of CUDA device memory");
  fails("load:1,load:2", "(out of memory) from cudaLaunchKernelEx");
  fails("launch:1", "cudaErrorLaunchFailure (unspecified launch failure) from cudaLaunchKernelEx");
  fails("copy:1", "cudaErrorLaunchFailure");
  fails("synchronise:1", "cudaErrorIllegalAddress");
  check_prints("throw_error", "sum 100.0\n", "ZHALO_EMULATED_FAIL=launch:2,synchronise:9");
  check_prints("throw_error", "sum 100.0\n", "ZHALO_EMULATED_FAIL=load:1");
}

TEST_CASE("settings that cannot be are errors") {
  check_stops("in_bounds", "ZHALO_EMULATED_DEVICES is '5' (must be a number up to 4)",
              "ZHALO_EMULATED_DEVICES=5");
  check_stops("in_bounds",
              "ZHALO_EMULATED_ORDER is 'backward' (must be one of forward reversed random)",
              "ZHALO_EMULATED_ORDER=backward");
  check_stops("in_bounds", "ZHALO_EMULATED_FAIL has 'copy'", "ZHALO_EMULATED_FAIL=copy");
}

}  // namespace zhalo::testing
