/// Sums over groups that have lost digits, because one particle is far beyond all others.
#pragma once

#include <vector>

#include "zhalo/catalogue/catalogue.hpp"

namespace zhalo {

/// A number of one particle, far beyond those of members, has cost groups their digits.
struct LostDigits {
  enum class Of { masses, positions, velocities };
  Of of = Of::masses;    ///< the number's column; a mass costs digits of all properties
  Index num_groups = 0;  ///< over all ranks
  double largest = 0;    ///< of all particles: the mass, extent or velocity (Catalogue::largest)
  /// Of these groups, the most that one has: its mean mass, largest radius or rms velocity (with
  /// the dispersion of three axes, in 2-D, too).
  double typical = 0;
};

/// Looks for groups with a mass, centre, velocity, dispersion or rms radius that may be off by more
/// than 1e-6 of the group's own mean mass, radius or rms velocity. Catalogue says how its sums are
/// cut. Snapshots that are not damaged have none, up to groups of 10^9 particles with masses 10^-4
/// of the largest. Reads the catalogue's rows alone. Collective, and the same on all ranks.
std::vector<LostDigits> find_lost_digits(const Communicator& comm, const Catalogue& catalogue);

}  // namespace zhalo
