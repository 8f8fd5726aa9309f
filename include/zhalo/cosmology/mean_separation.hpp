/// The mean separation of particles: the unit of relative linking lengths.
#pragma once

#include <optional>
#include <string>

#include "zhalo/core/types.hpp"

namespace zhalo {

/// The particles that are linked, as far as the mean separation needs them.
struct MassSummary {
  Index count = 0;
  double mean = 0;  ///< equal bit for bit on any number of ranks
  double min = 0;
  double max = 0;
  /// min and max agree to 1e-6, so that masses in float32 count as equal.
  bool equal() const { return count > 0 && min > 0 && max - min <= 1e-6 * max; }
};

enum class MeanSeparationRule {
  automatic,  ///< volume if the linked type has equal masses, is alone and fills the box (to 1%,
              ///< without gas), else density
  density,    ///< cbrt(mean mass / (Omega rho_crit)), right for zooms and with gas
  volume,     ///< cbrt(V / N)
  given
};

struct MeanSeparationRequest {
  MeanSeparationRule rule = MeanSeparationRule::automatic;
  double value = 0;  ///< for `given`, in the particles' unit of length
};

/// "auto", "rho", "volume" or a positive number; InputError otherwise.
MeanSeparationRequest parse_mean_separation(const std::string& text);

/// What is known of the matter around the linked particles. Lengths and densities are in the units
/// of the particles' masses and positions.
struct MatterContent {
  std::optional<double> volume;  ///< of the box
  std::optional<double> critical_density;
  std::string critical_density_source;  ///< or why there is none
  std::optional<double> omega_matter;
  std::optional<double> omega_baryon;
  std::optional<double> omega_cdm;
  bool has_gas = false;
  int num_types = 1;  ///< that are linked
};

/// All candidates and the choice, in the unit of length of the particles.
struct MeanSeparation {
  double chosen = 0;
  std::string how;  ///< for the user: which rule, with what numbers
  std::optional<double> from_volume;
  std::optional<double> from_density;
  std::string volume_note;   ///< the numbers used, or why there is none
  std::string density_note;  ///< the numbers used, or why there is none
  /// Not empty if volume and density differ by more than 1%: a sentence for the user.
  std::string warning;
};

/// Omega in the density is that of all matter without neutrinos, and without baryons if there
/// is gas. Throws InputError if what was asked for cannot be had; the message says what is missing
/// and which options help.
MeanSeparation mean_separation(const MatterContent& matter, const MassSummary& masses,
                               const MeanSeparationRequest& request = {});

}  // namespace zhalo
