/// The mean separation of particles: the unit of relative linking lengths.
#pragma once

#include "zhalo/comm/communicator.hpp"
#include "zhalo/io/snapshot.hpp"

namespace zhalo::io {

/// The particles that are linked, as far as the mean separation needs them.
struct MassSummary {
  Index count = 0;
  double mean = 0;  ///< equal bit for bit on any number of ranks
  double min = 0;
  double max = 0;
  /// min and max agree to 1e-6, so that masses in float32 count as equal.
  bool equal() const { return count > 0 && min > 0 && max - min <= 1e-6 * max; }
};

/// Masses of all particles of these types. Collective; each rank reads its share in blocks.
/// InputError if a type has no masses, or one is negative or not finite.
MassSummary summarise_masses(const Communicator& comm, const Snapshot& snapshot,
                             const std::vector<int>& types);

enum class MeanSeparationRule {
  automatic,  ///< volume if the linked type has equal masses, is alone and fills the box (to 1%,
              ///< without gas), else density
  density,    ///< cbrt(mean mass / (Omega rho_crit)), right for zooms and with gas
  volume,     ///< cbrt(V / N)
  given
};

struct MeanSeparationRequest {
  MeanSeparationRule rule = MeanSeparationRule::automatic;
  double value = 0;  ///< for `given`, in the file's length unit
};

/// "auto", "rho", "volume" or a positive number; InputError otherwise.
MeanSeparationRequest parse_mean_separation(const std::string& text);

/// All candidates and the choice, in the file's length unit.
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

/// Omega in the density is that of all matter without neutrinos, and without baryons if the file
/// has gas. Throws InputError if what was asked for cannot be had; the message says what is missing
/// and which options help.
MeanSeparation mean_separation(const SnapshotInfo& info, const std::vector<int>& types,
                               const MassSummary& masses,
                               const MeanSeparationRequest& request = {});

}  // namespace zhalo::io
