/// The discrete Fourier transform by FFTW's plan for one core: for grids too large for direct sums.
#pragma once

#include <fftw3.h>

#include "tests/support/direct_dft.hpp"

namespace zhalo::testing {

/// As direct_dft().
inline ComplexValues fftw_dft(const GridIndex& num, const ComplexValues& values, int sign = -1) {
  ComplexValues result = values;
  auto* data = reinterpret_cast<fftw_complex*>(result.data());
  fftw_plan plan =
      fftw_plan_dft_3d(static_cast<int>(num[0]), static_cast<int>(num[1]), static_cast<int>(num[2]),
                       data, data, sign < 0 ? FFTW_FORWARD : FFTW_BACKWARD, FFTW_ESTIMATE);
  fftw_execute(plan);
  fftw_destroy_plan(plan);
  return result;
}

}  // namespace zhalo::testing
