#include "apps/plot/scale.hpp"

#include <fmt/format.h>
#include <cmath>

namespace zhalo::app {

double round_down(double most) {
  const double decade = std::pow(10, std::floor(std::log10(most)));
  for (const double digit : {5.0, 2.0}) {
    if (digit * decade <= most * (1 + 1e-12)) return digit * decade;
  }
  return decade;
}

std::vector<double> linear_ticks(double lo, double hi, int wanted) {
  const double step = round_down((hi - lo) / wanted);
  std::vector<double> ticks;
  const double slack = 1e-9 * step;
  for (auto i = static_cast<long>(std::ceil((lo - slack) / step));
       static_cast<double>(i) * step <= hi + slack; ++i)
    ticks.push_back(static_cast<double>(i) * step);
  return ticks;
}

namespace {

/// Within [lo, hi] these digits times powers of ten.
std::vector<double> times_powers_of_ten(const std::vector<double>& digits, double lo, double hi) {
  std::vector<double> ticks;
  for (double decade = std::floor(std::log10(lo)); decade <= std::log10(hi); ++decade) {
    for (const double digit : digits) {
      const double value = digit * std::pow(10, decade);
      if (value >= lo && value <= hi) ticks.push_back(value);
    }
  }
  return ticks;
}

}  // namespace

std::vector<double> logarithmic_ticks(double lo, double hi) {
  if (hi > 1000 * lo) return times_powers_of_ten({1}, lo, hi);
  return times_powers_of_ten({1, 2, 5}, lo, hi);
}

std::vector<double> minor_ticks(double lo, double hi) {
  return times_powers_of_ten({1, 2, 3, 4, 5, 6, 7, 8, 9}, lo, hi);
}

std::string tick_text(double value) {
  return fmt::format("{:.6g}", std::abs(value) < 1e-12 ? 0 : value);
}

}  // namespace zhalo::app
