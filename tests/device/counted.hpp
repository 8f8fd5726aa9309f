/// What calls of the library ask of a device, in the cases of the benchmark.
#pragma once

#include <string>
#include <vector>

#include "tests/device/runtime/calls.hpp"
#include "zhalo/core/types.hpp"

namespace zhalo::emulated {

struct Counted {
  std::string name;  ///< of the benchmark's case, without its size
  Index num = 0;     ///< particles
  std::size_t bytes =
      0;            ///< most of the device's memory that was in use, results and positions included
  Counts counts{};  ///< of one call that is not among the first: these take memory that is kept

  std::int64_t of(Event event) const { return counts.at(static_cast<std::size_t>(event)); }
};

/// Friends-of-friends with b = 0.2 and its catalogue, and 8 neighbours of each particle; of uniform
/// and of clustered particles. On device 0.
std::vector<Counted> count_cases(Index num);

/// 8 neighbours of each of the uniform particles, found in some chunks.
struct CountedChunks {
  Counted counted;
  Index num_chunks = 0;
};
CountedChunks count_chunks(Index num);

/// Runs one of these cases, such as "fof/uniform/b0.2", once. False if there is none of this name.
bool run_case(const std::string& name, Index num);

}  // namespace zhalo::emulated
