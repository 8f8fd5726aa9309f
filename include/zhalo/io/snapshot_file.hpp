/// Writing snapshots (docs/formats.md).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "zhalo/io/result_file.hpp"

namespace zhalo::io {

/// This rank's particles of one type, on the host. Each array has `num` elements; positions and
/// peculiar velocities have one array per axis. On a rank without particles, arrays and mass are
/// ignored.
template <class Real>
struct SnapshotParticles {
  int type = 1;  ///< the same on all ranks
  Index num = 0;
  std::array<const Real*, 3> pos{};
  std::array<const Real*, 3> velocity{};  ///< peculiar, in the snapshot's unit of velocity
  const std::uint64_t* id = nullptr;
  /// Of each particle, in the snapshot's unit. The same on all ranks that have particles.
  double mass = 0;
};

/// What the header says: units, cosmology and box. The same on all ranks.
struct SnapshotHeader {
  double box_length = 0;
  double scale_factor = 1;
  double hubble = 0.7;
  double omega_matter = 0.3;
  double omega_lambda = 0.7;
  double omega_baryon = 0;
  double length_in_cm = 3.085678e24;  ///< Mpc/h
  double mass_in_g = 1.989e43;        ///< 1e10 Msun/h
  double velocity_in_cm_per_s = 1e5;
  std::vector<Note> parameters{};  ///< how it was made: written to /Parameters
};

/// Stages `NAME.hdf5`, or `NAME.0.hdf5` and so on, in the layout of GADGET-4. The group of the type
/// has Coordinates, Velocities (peculiar velocities divided by the root of the scale factor) and
/// ParticleIDs. Masses are in MassTable. Positions outside the box are wrapped. Collective; throws
/// as write_results(). InputError also for a name, a header, a type or a mass that differ between
/// ranks, for missing arrays, and for numbers that are not finite or must be positive.
template <class Real>
void write_snapshot(StagedFiles& files, const std::string& name,
                    const SnapshotParticles<Real>& particles, const SnapshotHeader& header,
                    const WriteOptions& options = {});

}  // namespace zhalo::io
