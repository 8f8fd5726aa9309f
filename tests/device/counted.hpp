/// What calls of the library ask of a device, in the cases of the benchmark.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/device/runtime/calls.hpp"
#include "zhalo/core/exec.hpp"
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

/// Painting and readout of uniform particles, and transforms, power spectra and random modes of the
/// grid with the largest even number of cells per side that has no more cells than `num`.
std::vector<Counted> count_mesh_cases(Index num);

/// What a call asks for that is not among the first; name and number are those of `what`.
Counted count_second(const Counted& what, const Exec& exec, const std::function<void()>& call);

/// Runs one of these cases, such as "fof/uniform/b0.2", once. False if there is none of this name.
bool run_case(const std::string& name, Index num);
bool run_mesh_case(const std::string& name, Index num);

}  // namespace zhalo::emulated
