/// The expansion of the universe and the growth of small perturbations, as far as initial
/// conditions need them.
#pragma once

#include <vector>

namespace zhalo {

/// Matter, a cosmological constant and curvature; no radiation.
struct Expansion {
  double omega_matter = 0.3;
  double omega_lambda = 0.7;

  double omega_curvature() const { return 1 - omega_matter - omega_lambda; }
  /// H(a) / H0.
  double hubble_ratio(double scale_factor) const;
  /// Omega_m(a).
  double omega_matter_at(double scale_factor) const;
};

/// Growing modes; D(1) = 1.
struct Growth {
  double d1 = 1;  ///< linear (Heath 1977, MNRAS 179, 351, by quadrature)
  double f1 = 1;  ///< d ln D1 / d ln a, from the same integral
  /// Of second order, D2'' + 2 H D2' = 3/2 Omega_m(a) H^2 (D2 - D1^2) in time, about -3/7 D1^2
  /// (Bouchet et al. 1995, A&A 296, 575).
  double d2 = 0;
  double f2 = 2;  ///< d ln D2 / d ln a, from the same equation
};

/// InputError for a scale factor that is not positive or more than 1e4, or densities with which the
/// universe does not expand until then.
Growth growth_at(const Expansion& expansion, double scale_factor);

/// P(k), log-linear between the points of a table, as a power law beyond them. k in h/Mpc, P in
/// (Mpc/h)^3, at redshift 0.
class LinearPower {
 public:
  /// InputError unless there are at least two points, k ascends, and all are positive and finite.
  LinearPower(std::vector<double> k, std::vector<double> power);

  double operator()(double k) const;
  /// Root of the variance in spheres of radius R (Mpc/h), which is 1 / (2 pi^2) times the integral
  /// of P W^2 k^2 dk; by quadrature.
  double sigma(double radius) const;
  /// So that sigma(8) has this value.
  void normalise(double sigma8);

 private:
  std::vector<double> log_k_;
  std::vector<double> log_power_;
};

struct EisensteinHu {
  double omega_matter = 0.3;  ///< baryons included
  double omega_baryon = 0.045;
  double hubble = 0.7;  ///< H0 in 100 km/s/Mpc
  double spectral_index = 0.96;
  double sigma8 = 0.8;
  double cmb_temperature = 2.7255;  ///< K
};

/// Transfer function with acoustic oscillations, k in h/Mpc (Eisenstein & Hu 1998, ApJ 496, 605,
/// eq. 2-24). Tends to 1 for small k.
double eisenstein_hu_transfer(const EisensteinHu& parameters, double k);

/// k^n T(k)^2 with that sigma8, tabulated from 1e-5 to 1e3 h/Mpc. InputError for parameters out of
/// range.
LinearPower eisenstein_hu_power(const EisensteinHu& parameters);

}  // namespace zhalo
