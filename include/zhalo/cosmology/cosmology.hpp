/// The expansion of the universe and the growth of small perturbations, as far as initial
/// conditions need them.
#pragma once

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

}  // namespace zhalo
