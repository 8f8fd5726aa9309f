#include "zhalo/cosmology/cosmology.hpp"

#include <algorithm>
#include <cmath>

#include "src/core/validate.hpp"

namespace zhalo {
namespace {

/// a^3 (H / H0)^2.
double scaled_hubble_squared(const Expansion& expansion, double a) {
  return expansion.omega_matter + expansion.omega_curvature() * a +
         expansion.omega_lambda * a * a * a;
}

/// Its least value between 0 and `a`: at an end or where the derivative is 0.
double min_hubble_squared(const Expansion& expansion, double a) {
  double smallest =
      std::min(scaled_hubble_squared(expansion, 0), scaled_hubble_squared(expansion, a));
  const double turn = -expansion.omega_curvature() / (3 * expansion.omega_lambda);
  if (turn > 0 && turn < a * a)
    smallest = std::min(smallest, scaled_hubble_squared(expansion, std::sqrt(turn)));
  return smallest;
}

void validate_expansion(const Expansion& expansion, double a) {
  constexpr double min_value = 1e-30;  // far below, powers of it are beyond a double
  constexpr double max_value =
      1e4;  // beyond, the steps of the quadrature do not resolve the integrand any more
  validate(a >= min_value && a <= max_value, "the scale factor is {} (must be {} to {})", a,
           min_value, max_value);
  validate(std::isfinite(expansion.omega_matter) && expansion.omega_matter > 0 &&
               std::isfinite(expansion.omega_lambda),
           "Omega_matter is {} and Omega_Lambda {} (perturbations grow only with matter: it must "
           "be more than 0)",
           expansion.omega_matter, expansion.omega_lambda);
  validate(min_hubble_squared(expansion, std::max(a, 1.0)) > 0,
           "with Omega_matter {} and Omega_Lambda {} the universe does not expand all the time "
           "from the big bang until scale factor {} (choose densities nearer to 0.3 and 0.7)",
           expansion.omega_matter, expansion.omega_lambda, std::max(a, 1.0));
}

/// The integral of da / (a H / H0)^3 from 0 to `a`, by Simpson's rule in sqrt(a), in which the
/// integrand is smooth.
double growth_integral(const Expansion& expansion, double a) {
  constexpr int steps = 4096;
  double sum = 0;
  for (int i = 1; i <= steps; ++i) {
    const double u = static_cast<double>(i) / steps;
    const double weight = i == steps ? 1 : i % 2 == 1 ? 4 : 2;
    sum += weight * std::pow(u, 4) / std::pow(scaled_hubble_squared(expansion, a * u * u), 1.5);
  }
  return 2 * std::pow(a, 2.5) * sum / (3 * steps);
}

/// H times the integral: the growing mode, not normalised.
double growing_mode(const Expansion& expansion, double a) {
  return expansion.hubble_ratio(a) * growth_integral(expansion, a);
}

/// What D2 = ratio D1^2 grows by: all three are smooth in ln a, and constant while there is nothing
/// but matter.
struct SecondOrder {
  double f1 = 1;
  double ratio = -3.0 / 7;
  double slope = 0;  ///< of the ratio, by ln a

  SecondOrder plus(const SecondOrder& rate, double by) const {
    return {f1 + by * rate.f1, ratio + by * rate.ratio, slope + by * rate.slope};
  }
};

/// By ln a. With q = 3/2 Omega_m(a) and p = 2 + d ln H / d ln a the equation of D1 becomes f1' = q
/// - p f1 - f1^2, and that of D2 ratio'' = -(4 f1 + p) ratio' - (q + 2 f1^2) ratio - q.
SecondOrder rate_of(const Expansion& expansion, double log_a, const SecondOrder& now) {
  const double a = std::exp(log_a);
  const double total = scaled_hubble_squared(expansion, a);
  const double q = 1.5 * expansion.omega_matter / total;
  const double p =
      2 - (3 * expansion.omega_matter + 2 * expansion.omega_curvature() * a) / (2 * total);
  const double f1 = now.f1;
  return {q - p * f1 - f1 * f1, now.slope,
          -(4 * f1 + p) * now.slope - (q + 2 * f1 * f1) * now.ratio - q};
}

/// By the classical Runge-Kutta method, from a time at which all but 1e-10 is matter.
SecondOrder second_order_at(const Expansion& expansion, double a) {
  const double others = std::abs(expansion.omega_curvature()) + std::abs(expansion.omega_lambda);
  const double first = std::min(a, 1e-10 * expansion.omega_matter / std::max(others, 1e-10));
  const double length = std::log(a / first);
  const auto steps = static_cast<int>(std::ceil(100 * length));
  const double h = length / std::max(steps, 1);
  SecondOrder now;
  for (int i = 0; i < steps; ++i) {
    const double x = std::log(first) + i * h;
    const SecondOrder k1 = rate_of(expansion, x, now);
    const SecondOrder k2 = rate_of(expansion, x + h / 2, now.plus(k1, h / 2));
    const SecondOrder k3 = rate_of(expansion, x + h / 2, now.plus(k2, h / 2));
    const SecondOrder k4 = rate_of(expansion, x + h, now.plus(k3, h));
    now = now.plus(k1, h / 6).plus(k2, h / 3).plus(k3, h / 3).plus(k4, h / 6);
  }
  return now;
}

}  // namespace

double Expansion::hubble_ratio(double scale_factor) const {
  return std::sqrt(scaled_hubble_squared(*this, scale_factor) / std::pow(scale_factor, 3));
}

double Expansion::omega_matter_at(double scale_factor) const {
  return omega_matter / scaled_hubble_squared(*this, scale_factor);
}

Growth growth_at(const Expansion& expansion, double scale_factor) {
  validate_expansion(expansion, scale_factor);
  const double a = scale_factor;
  const double hubble = expansion.hubble_ratio(a);
  // d ln H / d ln a, and what the integral's upper end adds.
  const double hubble_slope = -(3 * expansion.omega_matter / a + 2 * expansion.omega_curvature()) /
                              (2 * a * a * hubble * hubble);
  const SecondOrder second = second_order_at(expansion, a);
  Growth growth;
  growth.d1 = growing_mode(expansion, a) / growing_mode(expansion, 1);
  growth.f1 = hubble_slope + 1 / (a * a * std::pow(hubble, 3) * growth_integral(expansion, a));
  growth.d2 = second.ratio * growth.d1 * growth.d1;
  growth.f2 = 2 * growth.f1 + second.slope / second.ratio;
  return growth;
}

}  // namespace zhalo
