/// The expansion of the universe, the growth of perturbations and their linear power spectrum, and
/// the mean separation of particles.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "zhalo/core/types.hpp"

namespace zhalo {

/// A universe of matter, a cosmological constant and curvature, without radiation.
struct Expansion {
  double omega_matter = 0.3;
  double omega_lambda = 0.7;

  double omega_curvature() const { return 1 - omega_matter - omega_lambda; }
  /// H(a) / H0.
  double hubble_ratio(double scale_factor) const;
  /// Omega_m(a).
  double omega_matter_at(double scale_factor) const;
};

/// Growing modes of first and second order, normalised to D1 = 1 at scale factor 1.
struct Growth {
  double d1 = 1;  ///< first order (Heath 1977, MNRAS 179, 351), by quadrature
  double f1 = 1;  ///< d ln D1 / d ln a, from the same integral
  /// Second order: D2'' + 2 H D2' = 3/2 Omega_m(a) H^2 (D2 - D1^2), with derivatives in time. About
  /// -3/7 D1^2 (Bouchet et al. 1995, A&A 296, 575).
  double d2 = 0;
  double f2 = 2;  ///< d ln D2 / d ln a, from the same equation
};

/// Growth at a scale factor. InputError if the scale factor is less than 1e-30 or more than 1e4, if
/// Omega_matter is not positive, or if the universe does not expand all the time until then (and
/// until scale factor 1).
Growth growth_at(const Expansion& expansion, double scale_factor);

/// Linear power spectrum P(k) from a table. k is in h/Mpc and P in (Mpc/h)^3, at redshift 0.
/// Between the points ln P is linear in ln k. Beyond them P continues as a power law.
class LinearPower {
 public:
  /// InputError unless there are at least two points, k and ln k ascend, and all values are
  /// positive and finite.
  LinearPower(std::vector<double> k, std::vector<double> power);

  double operator()(double k) const;
  /// Root of the variance in spheres of `radius` (Mpc/h), by quadrature. The variance is the
  /// integral of P W^2 k^2 dk times 1 / (2 pi^2). InputError unless the radius is positive and
  /// finite.
  double sigma(double radius) const;
  /// The part of sigma(radius)^2 from k beyond the table, 0 to 1. InputError as sigma().
  double part_beyond_table(double radius) const;
  /// Scales P so that sigma(8) is `sigma8`. InputError unless that is positive and finite, and so
  /// is sigma(8) before.
  void normalise(double sigma8);

  /// The table's natural logarithms.
  const std::vector<double>& log_k() const { return log_k_; }
  const std::vector<double>& log_power() const { return log_power_; }

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

/// Transfer function T(k) with acoustic oscillations, k in h/Mpc (Eisenstein & Hu 1998, ApJ 496,
/// 605, eq. 2-24). It tends to 1 for small k. InputError for parameters out of range or negative k.
double eisenstein_hu_transfer(const EisensteinHu& parameters, double k);

/// P(k) = k^n T(k)^2, normalised to `sigma8` and tabulated from 1e-5 to 1e6 h/Mpc, with 500 points
/// per decade. Between them it is right to 3e-5 for the default parameters, to 1.6e-4 for
/// Omega_baryon 0.1, to 1.7e-3 for 0.2, but not near zeros of T, which 0.29 has. InputError for
/// parameters out of range.
LinearPower eisenstein_hu_power(const EisensteinHu& parameters);

// The mean separation of particles, which is the unit of relative linking lengths.

/// Number and masses of the linked particles.
struct MassSummary {
  Index count = 0;
  double mean = 0;  ///< equal bit for bit for any number of ranks
  double min = 0;
  double max = 0;
  /// Whether all masses are equal: min and max agree to 1e-6, to allow for masses in float32.
  bool equal() const { return count > 0 && min > 0 && max - min <= 1e-6 * max; }
};

enum class MeanSeparationRule {
  /// `volume` if a single type is linked, its masses are equal, it fills the box, and there is no
  /// gas. Otherwise `density`. It fills the box if its mass is 90% to 101% of Omega_m, which may
  /// contain neutrinos, or 99% to 101% of Omega_m - Omega_b: dark matter of a run with gas, of
  /// which nothing else is given. If the density is unknown, `volume` still serves for a single
  /// type of equal masses without gas.
  automatic,
  /// cbrt(mean mass / (Omega rho_crit)): right for zooms and with gas. Omega is that of what is
  /// linked: dark matter, baryons, or both.
  density,
  volume,  ///< cbrt(V / N)
  given
};

struct MeanSeparationRequest {
  MeanSeparationRule rule = MeanSeparationRule::automatic;
  double value = 0;  ///< for `given`, in the particles' unit of length
};

/// Parses "auto", "rho", "volume" or a positive number. InputError for anything else.
MeanSeparationRequest parse_mean_separation(const std::string& text);

/// What is known of the matter in the box. Lengths and densities are in the units of the particles'
/// positions and masses.
struct MatterContent {
  std::optional<double> volume;  ///< of the box; 0, as of a box without bounds, is none
  /// One that is not positive and finite is none.
  std::optional<double> critical_density;
  std::string critical_density_source;  ///< where it comes from, or why there is none
  std::optional<double> omega_matter;
  std::optional<double> omega_baryon;
  std::optional<double> omega_cdm;
  bool has_gas = false;
  int num_types = 1;  ///< number of linked types
  // What is linked, if there is gas. Without gas all particles stand for all matter.
  bool links_dark_matter = true;
  bool links_baryons = false;  ///< gas, stars or black holes
};

/// All candidates and the one chosen, in the particles' unit of length.
struct MeanSeparation {
  double chosen = 0;
  std::string how;  ///< for the user: which rule was used, with which numbers
  std::optional<double> from_volume;
  std::optional<double> from_density;
  std::string volume_note;   ///< the numbers used, or why there is none
  std::string density_note;  ///< the numbers used, or why there is none
  /// For the user if volume and density differ by more than 1%, or if dark matter alone is linked,
  /// whose masses differ by more than a factor of 1.5; else empty.
  std::string warning;
};

/// Derives the mean separation. Omega in the density is Omega_cdm + Omega_b if both are known, else
/// Omega_m, which may contain neutrinos. If there is gas, it is that of the linked matter alone:
/// dark matter, baryons, or both. Throws InputError if the requested rule cannot be used. The
/// message says what is missing and which options help.
MeanSeparation mean_separation(const MatterContent& matter, const MassSummary& masses,
                               const MeanSeparationRequest& request = {});

}  // namespace zhalo
