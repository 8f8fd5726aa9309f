/// Particles, as views of memory.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "zhalo/comm/context.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/core/types.hpp"

namespace zhalo {

/// One piece of the caller's memory (on the context's host or device). All columns have `num`
/// elements. Only `pos` is required.
template <class Real>
struct ParticleSegment {
  Index num = 0;
  std::array<Strided<Real>, 3> pos;    ///< per axis; the third is unused in 2-D
  std::array<RealColumn, 3> velocity;  ///< per axis, or none
  /// If there is none, all particles have Particles::uniform_mass.
  RealColumn mass;
  /// If there is none, all particles have type 0.
  Strided<std::uint8_t> type;

  /// Views positions that are stored as (num, dimensions), row by row. InputError unless there are
  /// 2 or 3 dimensions.
  static ParticleSegment interleaved(const Real* pos, Index num, int dimensions = 3);
  /// The same for velocities.
  void set_interleaved_velocity(const Real* velocity, int dimensions = 3);
};

/// The particles of one rank, in one or more segments. The memory is the caller's. zhalo never
/// changes it, and it must outlive the calls that use it. A particle is identified by its global
/// index: its number in the order of ranks, then segments, then rows.
template <class Real>
struct Particles {
  int dimensions = 3;
  double uniform_mass = 1;  ///< for segments without a mass column
  std::vector<ParticleSegment<Real>> segments;

  /// Particles on this rank. InputError for a negative number in a segment, and for more than
  /// max_local_particles.
  Index num() const;
};

/// This rank's part of the global order of particles.
struct GlobalRange {
  Index first = 0;  ///< global index of this rank's first particle
  Index total = 0;  ///< over all ranks
};
/// The part of a rank with `num` particles. Collective.
GlobalRange global_range(const Communicator& comm, Index num);

struct PositionCounts {
  Index num_particles = 0;  ///< over all ranks
  /// Those outside a periodic axis, which searches wrap into the box.
  Index num_wrapped = 0;
};

/// Whose positions they are, for messages.
struct PositionsOf {
  std::string many = "particles";
  std::string one = "particle";
};

/// Counts all particles, and those that a search wraps into the box. It checks the positions as
/// every search does at its beginning, and copies nothing. Positions are in the box's unit, in
/// memory of the context's Exec. Collective. Throws InputError for positions that are not finite,
/// lie outside an axis that is not periodic or more than 10^4 sides outside one that is, and for a
/// box that cannot be used.
template <class Real>
PositionCounts count_positions(const Context& context, const Particles<Real>& particles,
                               const Box& box, const PositionsOf& of = {});

}  // namespace zhalo
