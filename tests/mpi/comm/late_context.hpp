/// The context of tests over ranks.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>

#include "tests/support/host_context.hpp"
#include "tests/support/random.hpp"

namespace zhalo::testing {

/// Of the delays of this process: ZHALO_TEST_SEED, or one that it names.
inline std::uint64_t seed_of_delays() {
  static const std::uint64_t seed = [] {
    const char* given = std::getenv("ZHALO_TEST_SEED");
    const std::uint64_t chosen =
        given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    std::fprintf(stderr, "delays of process %d: ZHALO_TEST_SEED=%llu\n", static_cast<int>(getpid()),
                 static_cast<unsigned long long>(chosen));
    return chosen;
  }();
  return seed;
}

/// With ZHALO_TEST_LATE=1 in the environment every case runs in messages of at most 1000 floats,
/// and ranks come late to each collective.
inline Context make_context(CommunicatorOptions options = {}) {
  const char* late = std::getenv("ZHALO_TEST_LATE");
  if (late != nullptr && !options.observer) {
    options.chunk_bytes = 1000 * 4;
    options.observer = [random = Random(seed_of_delays())](const char*) mutable {
      std::this_thread::sleep_for(std::chrono::microseconds(random.below(500)));
    };
  }
  return host_context(1, options);
}

}  // namespace zhalo::testing
