#include "zhalo/cosmology/cosmology.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "src/core/validate.hpp"

namespace zhalo {
// Expansion and growth.

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

// The spectrum of Eisenstein & Hu. Numbers in brackets are those of their equations.

namespace {

using std::exp;
using std::log;
using std::pow;
using std::sqrt;

void validate_parameters(const EisensteinHu& p) {
  const auto is_positive = [](double value) { return std::isfinite(value) && value > 0; };
  validate(is_positive(p.omega_matter), "Omega_matter is {} (must be positive and finite)",
           p.omega_matter);
  validate(p.omega_baryon >= 0 && p.omega_baryon < p.omega_matter,
           "Omega_baryon is {} (must be 0 or more, and less than Omega_matter, which is {} and "
           "includes it)",
           p.omega_baryon, p.omega_matter);
  validate(is_positive(p.hubble), "h is {} (must be positive and finite)", p.hubble);
  validate(is_positive(p.cmb_temperature),
           "the temperature of the microwave background is {} K (must be positive and finite)",
           p.cmb_temperature);
  validate(std::isfinite(p.spectral_index) && p.spectral_index > -3 && p.spectral_index < 4,
           "the spectral index is {} (must be between -3 and 4)", p.spectral_index);
}

/// j_0(x), the spherical Bessel function: sin x / x.
double spherical_bessel_0(double x) { return std::abs(x) < 1e-4 ? 1 - x * x / 6 : std::sin(x) / x; }

/// What does not depend on k; densities in units of the critical one times h^2, lengths in Mpc.
struct Fit {
  double matter;           ///< Omega_0 h^2
  double baryons;          ///< Omega_b h^2
  double baryon_fraction;  ///< of matter
  double z_equality;
  double k_equality;
  double z_drag;
  double drag_ratio;  ///< R at the drag epoch
  double sound_horizon;
  double k_silk;

  explicit Fit(const EisensteinHu& p);

 private:
  /// Ratio of the momenta of baryons and photons (5).
  static double momentum_ratio(double baryons, double theta, double z) {
    return 31.5 * baryons * pow(theta, -4) * (1000 / z);
  }
};

Fit::Fit(const EisensteinHu& p)
    : matter(p.omega_matter * p.hubble * p.hubble),
      baryons(p.omega_baryon * p.hubble * p.hubble),
      baryon_fraction(p.omega_baryon / p.omega_matter) {
  const double theta = p.cmb_temperature / 2.7;
  z_equality = 2.50e4 * matter * pow(theta, -4);   // (2)
  k_equality = 7.46e-2 * matter * pow(theta, -2);  // (3)
  const double b1 = 0.313 * pow(matter, -0.419) * (1 + 0.607 * pow(matter, 0.674));
  const double b2 = 0.238 * pow(matter, 0.223);
  z_drag = 1291 * pow(matter, 0.251) / (1 + 0.659 * pow(matter, 0.828)) *
           (1 + b1 * pow(baryons, b2));  // (4)
  drag_ratio = momentum_ratio(baryons, theta, z_drag);
  const double equality_ratio = momentum_ratio(baryons, theta, z_equality);
  sound_horizon = 2 / (3 * k_equality) * sqrt(6 / equality_ratio) *
                  log((sqrt(1 + drag_ratio) + sqrt(drag_ratio + equality_ratio)) /
                      (1 + sqrt(equality_ratio)));                                          // (6)
  k_silk = 1.6 * pow(baryons, 0.52) * pow(matter, 0.73) * (1 + pow(10.4 * matter, -0.95));  // (7)
}

/// The form of T without baryons (19, 20); q as in (10).
double pressureless(double q, double alpha, double beta) {
  const double c = 14.2 / alpha + 386 / (1 + 69.9 * pow(q, 1.08));
  const double l = log(std::numbers::e + 1.8 * beta * q);
  return l / (l + c * q * q);
}

/// Cold dark matter (17).
double dark_matter_transfer(const Fit& fit, double k, double q) {
  const double fraction = fit.baryon_fraction;
  const double a1 = pow(46.9 * fit.matter, 0.670) * (1 + pow(32.1 * fit.matter, -0.532));
  const double a2 = pow(12.0 * fit.matter, 0.424) * (1 + pow(45.0 * fit.matter, -0.582));
  const double alpha = pow(a1, -fraction) * pow(a2, -pow(fraction, 3));  // (11)
  const double b1 = 0.944 / (1 + pow(458 * fit.matter, -0.708));
  const double b2 = pow(0.395 * fit.matter, -0.0266);
  const double beta = 1 / (1 + b1 * (pow(1 - fraction, b2) - 1));                // (12)
  const double f = 1 / (1 + pow(k * fit.sound_horizon / 5.4, 4));                // (18)
  return f * pressureless(q, 1, beta) + (1 - f) * pressureless(q, alpha, beta);  // (17)
}

/// Baryons (21), with their acoustic oscillations.
double baryon_transfer(const Fit& fit, double k, double q) {
  const double y = (1 + fit.z_equality) / (1 + fit.z_drag);
  const double root = sqrt(1 + y);
  const double g = y * (-6 * root + (2 + 3 * y) * log((root + 1) / (root - 1)));  // (15)
  const double alpha =
      2.07 * fit.k_equality * fit.sound_horizon * pow(1 + fit.drag_ratio, -0.75) * g;  // (14)
  const double fraction = fit.baryon_fraction;
  const double beta =
      0.5 + fraction + (3 - 2 * fraction) * sqrt(pow(17.2 * fit.matter, 2) + 1);  // (24)
  const double node = 8.41 * pow(fit.matter, 0.435);                              // (23)
  const double ks = k * fit.sound_horizon;
  const double shifted = ks / std::cbrt(1 + pow(node / ks, 3));  // k times (22)
  const double smooth = pressureless(q, 1, 1) / (1 + pow(ks / 5.2, 2));
  const double damped = alpha / (1 + pow(beta / ks, 3)) * exp(-pow(k / fit.k_silk, 1.4));
  return (smooth + damped) * spherical_bessel_0(shifted);
}

double transfer_of(const Fit& fit, double k) {
  const double q = k / (13.41 * fit.k_equality);  // (10)
  // Without baryons there is no sound, and no scale of it.
  if (fit.baryons == 0) return pressureless(q, 1, 1);
  const double fraction = fit.baryon_fraction;
  return fraction * baryon_transfer(fit, k, q) +
         (1 - fraction) * dark_matter_transfer(fit, k, q);  // (16)
}

}  // namespace

double eisenstein_hu_transfer(const EisensteinHu& parameters, double k) {
  validate_parameters(parameters);
  validate(std::isfinite(k) && k >= 0, "k is {} h/Mpc (must not be negative)", k);
  return k == 0 ? 1 : transfer_of(Fit(parameters), k * parameters.hubble);
}

LinearPower eisenstein_hu_power(const EisensteinHu& parameters) {
  validate_parameters(parameters);
  constexpr int first = -5;  // powers of ten
  constexpr int last = 6;
  // Linear in logarithms is right to 3e-5 for the default parameters. The oscillations of more
  // baryons are stronger: for Omega_baryon 0.1 it is right to 1.6e-4, for 0.2 to 1.7e-3. No bound
  // holds near zeros of T, which 0.29 has.
  constexpr int per_decade = 500;
  const Fit fit(parameters);
  std::vector<double> k;
  std::vector<double> power;
  for (int i = 0; i <= (last - first) * per_decade; ++i) {
    k.push_back(pow(10, first + static_cast<double>(i) / per_decade));
    power.push_back(pow(k.back(), parameters.spectral_index) *
                    pow(transfer_of(fit, k.back() * parameters.hubble), 2));
  }
  LinearPower linear(std::move(k), std::move(power));
  linear.normalise(parameters.sigma8);
  return linear;
}

// Spectra from tables.

namespace {

/// The mean of a wave over a sphere, 3 (sin x - x cos x) / x^3.
double top_hat(double x) {
  if (x < 1e-2) return 1 - x * x / 10 + x * x * x * x / 280;
  return 3 * (std::sin(x) - x * std::cos(x)) / (x * x * x);
}

/// The variance in spheres of `radius`, from all k for which `is_counted(ln k)` holds.
template <class IsCounted>
double variance(const LinearPower& power, double radius, const IsCounted& is_counted) {
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
    if (!is_counted(std::log(k))) continue;
    const double window = top_hat(x);
    const double weight = i == 0 || i == steps ? 0.5 : 1;
    sum += weight * power(k) * window * window * k * k * k;
  }
  return sum * (last - first) / steps / (2 * std::numbers::pi * std::numbers::pi);
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
    validate(i == 0 || std::log(log_k_[i - 1]) < std::log(log_k_[i]),
             "k of a power spectrum does not ascend at point {}: {} after {} (ln k must ascend, "
             "too)",
             i + 1, log_k_[i], log_k_[i - (i > 0 ? 1 : 0)]);
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
  return std::sqrt(variance(*this, radius, [](double) { return true; }));
}

double LinearPower::part_beyond_table(double radius) const {
  const double all = variance(*this, radius, [](double) { return true; });
  const double beyond =
      variance(*this, radius, [&](double x) { return x < log_k_.front() || x > log_k_.back(); });
  // Points are finite: what is not comes from beyond them.
  return std::isfinite(all) && all > 0 ? beyond / all : 1;
}

void LinearPower::normalise(double sigma8) {
  validate(std::isfinite(sigma8) && sigma8 > 0, "sigma8 is {} (must be positive and finite)",
           sigma8);
  const double before = sigma(8);
  validate(std::isfinite(before) && before > 0,
           "a power spectrum has sigma8 {} and cannot be normalised (give a longer table: beyond "
           "it P goes on as a power law)",
           before);
  const double shift = 2 * std::log(sigma8 / before);
  for (double& value : log_power_) value += shift;
}

}  // namespace zhalo
