// Elementary functions on the host, against the long ones of the C library.
#include "kernels/common/modes/portable.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/support/random.hpp"
#include "tests/support/same_bits.hpp"

namespace zhalo::testing {
namespace {

/// The difference in units of the last digit of what is right.
double units_off(double found, long double right) {
  const auto rounded = static_cast<double>(right);
  const double unit = std::nextafter(std::abs(rounded), INFINITY) - std::abs(rounded);
  return static_cast<double>(std::abs(static_cast<long double>(found) - right)) / unit;
}

}  // namespace

TEST_CASE("elementary functions are right to the last digits", "[parity]") {
  Random random(3);
  double worst_log = 0;
  double worst_exp = 0;
  double worst_sine = 0;  // of sine and cosine, in units of the last digit of 1
  for (int i = 0; i < 300000; ++i) {
    const double x = i % 3 == 0 ? random.uniform(0.4, 1.6) : std::exp(random.uniform(-690, 690));
    worst_log = larger(worst_log,
                       units_off(kernels::portable_log(x), std::log(static_cast<long double>(x))));
    const double y = random.uniform(-700, 700) * (i % 2 == 0 ? 1 : 0.001);
    worst_exp = larger(worst_exp,
                       units_off(kernels::portable_exp(y), std::exp(static_cast<long double>(y))));
    const double phase = random.uniform(-20, 20);
    const kernels::SineCosine both = kernels::portable_sine_cosine(phase);
    worst_sine =
        larger(worst_sine, units_off(both.sine, std::sin(static_cast<long double>(phase))));
    worst_sine =
        larger(worst_sine, units_off(both.cosine, std::cos(static_cast<long double>(phase))));
  }
  INFO("ln " << worst_log << ", exp " << worst_exp << ", sin and cos " << worst_sine);
  CHECK(worst_log <= 1.5);
  CHECK(worst_exp <= 1.5);
  CHECK(worst_sine <= 1.5);
}

TEST_CASE("elementary functions at their ends", "[parity]") {
  CHECK(kernels::portable_log(1) == 0);
  CHECK(kernels::portable_log(0x1p-53) == std::log(0x1p-53));
  CHECK(kernels::portable_exp(0) == 1);
  CHECK(kernels::portable_exp(-1e6) == 0);
  CHECK(kernels::portable_exp(1e6) == INFINITY);
  CHECK(kernels::portable_sine_cosine(0).sine == 0);
  CHECK(kernels::portable_sine_cosine(0).cosine == 1);
}

}  // namespace zhalo::testing
