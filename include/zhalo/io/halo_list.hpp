/// Haloes of a catalogue, for showing them.
#pragma once

#include <string>
#include <vector>

#include "zhalo/core/types.hpp"

namespace zhalo::io {

/// One group, in the units of its catalogue.
struct Halo {
  Vec3d centre;       ///< GroupPos, or GroupCM
  double radius = 0;  ///< of the farthest member, else Group_R_Crit200 or Group_R_Mean200; 0 if the
                      ///< catalogue has none of them
  double mass = 0;    ///< GroupMass, which a catalogue must have
  Index length = 0;   ///< GroupLen, which a catalogue must have
};

struct HaloList {
  std::vector<Halo> haloes;  ///< in the catalogue's order: the largest first
  double box_length = 0;
  std::vector<std::string> files;  ///< of the catalogue
};

/// `path`: a catalogue folder groups_NNN, one of its files, or a name without ".K.hdf5". At most
/// `most` haloes. FileError or InputError. Not collective: run it on one rank, in
/// Communicator::together.
HaloList read_haloes(const std::string& path, Index most);

}  // namespace zhalo::io
