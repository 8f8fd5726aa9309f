/// Transforms over ranks: the decompositions, and errors that all ranks must see.
#pragma once

#include <vector>

#include "tests/mpi/comm/agreed_error.hpp"
#include "tests/mpi/comm/late_context.hpp"
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
  for (const Split split : {Split::automatic, Split::slab, Split::pencil})
    all.push_back({.split = split});
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

inline GridIndex product(const GridIndex& a, const GridIndex& b) {
  return {{a[0] * b[0], a[1] * b[1], a[2] * b[2]}};
}
inline GridIndex wrapped(GridIndex at, const GridIndex& num) {
  for (int axis = 0; axis < 3; ++axis) at[axis] = ((at[axis] % num[axis]) + num[axis]) % num[axis];
  return at;
}
inline GridIndex mirrored(const GridIndex& k, const GridIndex& num) {
  return wrapped({{-k[0], -k[1], -k[2]}}, num);
}

/// Modes that are their own mirror images get imaginary parts, which a real field's do not have:
/// they must count as 0.
template <class T>
void check_imaginary_parts(const Context& context) {
  for (const GridIndex& num : {GridIndex{{8, 6, 10}}, GridIndex{{7, 6, 5}}, GridIndex{{1, 1, 6}}}) {
    const Signals signals(num, Signals::Kind::real);
    const ValueAt spoilt = [&](Index field, const GridIndex& k) {
      const std::complex<double> mode = signals.mode()(field, k);
      return k == mirrored(k, num) ? mode + std::complex<double>(0, 3 + mode.real()) : mode;
    };
    for (const DecompositionOptions& split : shapes(context.comm.size())) {
      FftRun<T> run(context, Decomposition(Grid{num}, context.comm.size(), split));
      const ValueAt back = signals.cell(static_cast<double>(num[0] * num[1] * num[2]));
      CHECK(relative_error(context.comm, run.backward(spoilt), run.cells(), back) <=
            error_bound<T>(num));
      CHECK(relative_error(context.comm, run.backward_in_place(spoilt), run.cells_in_place(),
                           back) <= error_bound<T>(num));
    }
  }
}

}  // namespace zhalo::testing
