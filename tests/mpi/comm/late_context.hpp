/// The context of tests over ranks.
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>

#include "tests/support/host_context.hpp"
#include "tests/support/random.hpp"

namespace zhalo::testing {

/// Of the delays of this rank in its next context. All follow from ZHALO_TEST_SEED, or from a
/// number that rank 0 draws and says. Collective.
inline std::uint64_t seed_of_delays() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static std::uint64_t num_contexts = 0;
  static const std::uint64_t seed = [&] {
    const char* given = std::getenv("ZHALO_TEST_SEED");
    std::uint64_t chosen = given != nullptr ? std::strtoull(given, nullptr, 10) : 0;
    if (given == nullptr) chosen = std::random_device{}();
    MPI_Bcast(&chosen, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (rank == 0)
      std::fprintf(stderr, "ZHALO_TEST_SEED=%llu\n", static_cast<unsigned long long>(chosen));
    return chosen;
  }();
  return seed + 1000003 * static_cast<std::uint64_t>(rank) + num_contexts++;
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
