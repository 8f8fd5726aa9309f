#include "tests/support/direct_dft.hpp"

#include <cmath>
#include <numbers>

namespace zhalo::testing {
std::complex<long double> unit_root(Index turns, Index num) {
  const long double angle = 2 * std::numbers::pi_v<long double> *
                            static_cast<long double>(turns % num) / static_cast<long double>(num);
  return {std::cos(angle), std::sin(angle)};
}

namespace {

/// out(k) = sum_x line(x) exp(sign 2 pi i k x / num)
std::vector<std::complex<long double>> direct_dft_of_line(
    const std::vector<std::complex<long double>>& line,
    const std::vector<std::complex<long double>>& roots) {
  const std::size_t num = line.size();
  std::vector<std::complex<long double>> out(num);
  for (std::size_t k = 0; k < num; ++k) {
    long double real = 0;
    long double imag = 0;
    std::size_t turn = 0;  // k x modulo num
    for (std::size_t x = 0; x < num; ++x) {
      real += line[x].real() * roots[turn].real() - line[x].imag() * roots[turn].imag();
      imag += line[x].real() * roots[turn].imag() + line[x].imag() * roots[turn].real();
      turn += k;
      if (turn >= num) turn -= num;
    }
    out[k] = {real, imag};
  }
  return out;
}

}  // namespace

ComplexValues direct_dft(const GridIndex& num, const ComplexValues& values, int sign) {
  std::vector<std::complex<long double>> work(values.begin(), values.end());
  std::size_t stride = values.size();
  for (int axis = 0; axis < 3; ++axis) {
    const auto length = static_cast<std::size_t>(num[axis]);
    stride /= length;
    std::vector<std::complex<long double>> roots;
    for (Index turns = 0; turns < num[axis]; ++turns) {
      const std::complex<long double> root = unit_root(turns, num[axis]);
      roots.push_back(sign < 0 ? std::conj(root) : root);
    }
    std::vector<std::complex<long double>> line(length);
    for (std::size_t first = 0; first < work.size(); ++first) {
      if (first / stride % length != 0) continue;
      for (std::size_t i = 0; i < length; ++i) line[i] = work[first + i * stride];
      const auto transformed = direct_dft_of_line(line, roots);
      for (std::size_t i = 0; i < length; ++i) work[first + i * stride] = transformed[i];
    }
  }
  ComplexValues result;
  result.reserve(work.size());
  for (const auto& value : work)
    result.emplace_back(static_cast<double>(value.real()), static_cast<double>(value.imag()));
  return result;
}

}  // namespace zhalo::testing
