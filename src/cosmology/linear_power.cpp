#include "zhalo/cosmology/linear_power.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "src/core/validate.hpp"

namespace zhalo {
namespace {

/// The mean of a wave over a sphere, 3 (sin x - x cos x) / x^3.
double top_hat(double x) {
  if (x < 1e-2) return 1 - x * x / 10 + x * x * x * x / 280;
  return 3 * (std::sin(x) - x * std::cos(x)) / (x * x * x);
}

}  // namespace

LinearPower::LinearPower(std::vector<double> k, std::vector<double> power)
    : log_k_(std::move(k)), log_power_(std::move(power)) {
  validate(log_k_.size() == log_power_.size() && log_k_.size() >= 2,
           "a power spectrum has {} values of k and {} of P (must be as many, and at least 2)",
           log_k_.size(), log_power_.size());
  for (std::size_t i = 0; i < log_k_.size(); ++i) {
    const bool good = std::isfinite(log_k_[i]) && log_k_[i] > 0 && std::isfinite(log_power_[i]) &&
                      log_power_[i] > 0;
    validate(good,
             "point {} of a power spectrum is k = {}, P = {} (both must be positive and finite)",
             i + 1, log_k_[i], log_power_[i]);
    validate(i == 0 || log_k_[i - 1] < log_k_[i],
             "k of a power spectrum does not ascend at point {}: {} after {}", i + 1, log_k_[i],
             log_k_[i - (i > 0 ? 1 : 0)]);
  }
  for (double& value : log_k_) value = std::log(value);
  for (double& value : log_power_) value = std::log(value);
}

double LinearPower::operator()(double k) const {
  const double x = std::log(k);
  // The points around x; beyond the table, its first or last two.
  const auto next = std::upper_bound(log_k_.begin() + 1, log_k_.end() - 1, x);
  const auto upper = static_cast<std::size_t>(next - log_k_.begin());
  const double slope =
      (log_power_[upper] - log_power_[upper - 1]) / (log_k_[upper] - log_k_[upper - 1]);
  return std::exp(log_power_[upper] + slope * (x - log_k_[upper]));
}

double LinearPower::sigma(double radius) const {
  validate(std::isfinite(radius) && radius > 0,
           "a sphere has the radius {} (must be positive and finite)", radius);
  // Trapezoids in ln x, x = k R: W^2 x^3 falls as 1 / x beyond the last one, which has several
  // steps per oscillation of W.
  constexpr double first = -11.5;  // ln 1e-5
  constexpr double last = 6.9;     // ln 1e3
  constexpr int steps = 36800;
  double sum = 0;
  for (int i = 0; i <= steps; ++i) {
    const double x = std::exp(first + (last - first) * i / steps);
    const double k = x / radius;
    const double window = top_hat(x);
    const double weight = i == 0 || i == steps ? 0.5 : 1;
    sum += weight * (*this)(k)*window * window * k * k * k;
  }
  return std::sqrt(sum * (last - first) / steps / (2 * std::numbers::pi * std::numbers::pi));
}

void LinearPower::normalise(double sigma8) {
  validate(std::isfinite(sigma8) && sigma8 > 0, "sigma8 is {} (must be positive and finite)",
           sigma8);
  const double shift = 2 * std::log(sigma8 / sigma(8));
  for (double& value : log_power_) value += shift;
}

}  // namespace zhalo
