/// Transforms over ranks: the decompositions, and errors that all ranks must see.
#pragma once

#include <string>
#include <vector>

#include "tests/mpi/agreed_error.hpp"
#include "tests/mpi/late_context.hpp"
#include "tests/support/run_fft.hpp"

namespace zhalo::testing {

/// Every shape that this number of ranks can have.
inline std::vector<DecompositionOptions> shapes(int num_ranks) {
  std::vector<DecompositionOptions> all;
  for (int rows = 1; rows <= num_ranks; ++rows)
    if (num_ranks % rows == 0) all.push_back({.shape = {rows, num_ranks / rows}});
  return all;
}

/// And the ways to choose one.
inline std::vector<DecompositionOptions> shapes_and_splits(int num_ranks) {
  std::vector<DecompositionOptions> all = shapes(num_ranks);
  for (const Split split : {Split::automatic, Split::slab, Split::pencil}) all.push_back({.split = split});
  return all;
}

/// A field without any pattern, whose values are floats, that needs no table.
inline std::complex<double> noise(Index field, const GridIndex& at) {
  auto bits = static_cast<std::uint64_t>(field + 7 * (at[0] + 1000 * (at[1] + 1000 * at[2])));
  const auto next = [&bits] {
    bits += 0x9e3779b97f4a7c15U;
    std::uint64_t mixed = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebU;
    return static_cast<double>(mixed >> 40) * 0x1p-23 - 1;
  };
  const double real = next();
  return {real, next()};
}

/// What remains of it in a field of T.
template <class T>
std::complex<double> noise_in(Index field, const GridIndex& at) {
  return is_real<T> ? std::complex<double>(noise(field, at).real()) : noise(field, at);
}

}  // namespace zhalo::testing
