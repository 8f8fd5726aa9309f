/// The discrete Fourier transform by its definition.
#pragma once

#include <complex>
#include <vector>

#include "zhalo/fft/decomposition.hpp"

namespace zhalo::testing {

/// Values of a whole grid, z fastest.
using ComplexValues = std::vector<std::complex<double>>;

inline std::size_t index_on(const GridIndex& num, const GridIndex& at) {
  return static_cast<std::size_t>((at[0] * num[1] + at[1]) * num[2] + at[2]);
}

/// exp(2 pi i turns / num), of the exact angle.
std::complex<long double> unit_root(Index turns, Index num);

/// F(k) = sum_x f(x) exp(sign 2 pi i (k_x x / n_x + k_y y / n_y + k_z z / n_z)): the sums
/// themselves, along one axis after the other, in long double. Takes n_x n_y n_z (n_x + n_y + n_z)
/// steps.
ComplexValues direct_dft(const GridIndex& num, const ComplexValues& values, int sign = -1);

}  // namespace zhalo::testing
