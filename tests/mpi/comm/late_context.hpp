/// The context of tests over ranks.
#pragma once

#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>

#include "tests/support/host_context.hpp"
#include "tests/support/random.hpp"

namespace zhalo::testing {

/// With ZHALO_TEST_LATE=1 in the environment every case runs in messages of at most 1000 floats,
/// and ranks come late to each collective.
inline Context make_context(CommunicatorOptions options = {}) {
  const char* late = std::getenv("ZHALO_TEST_LATE");
  if (late != nullptr && !options.observer) {
    options.chunk_bytes = 1000 * 4;
    options.observer = [random = Random(std::random_device{}())](const char*) mutable {
      std::this_thread::sleep_for(std::chrono::microseconds(random.below(500)));
    };
  }
  return host_context(1, options);
}

}  // namespace zhalo::testing
