/// Linear power spectra of matter.
#pragma once

#include <vector>

#include "zhalo/cosmology/cosmology.hpp"

namespace zhalo {

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
