/// The mean separation of particles, which is the unit of relative linking lengths.
#pragma once

#include <optional>
#include <string>

#include "zhalo/core/types.hpp"

namespace zhalo {

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
  /// A sentence for the user if volume and density differ by more than 1%; else empty.
  std::string warning;
};

/// Derives the mean separation. Omega in the density is Omega_cdm + Omega_b if both are known, else
/// Omega_m, which may contain neutrinos. If there is gas, it is that of the linked matter alone:
/// dark matter, baryons, or both. Throws InputError if the requested rule cannot be used. The
/// message says what is missing and which options help.
MeanSeparation mean_separation(const MatterContent& matter, const MassSummary& masses,
                               const MeanSeparationRequest& request = {});

}  // namespace zhalo
