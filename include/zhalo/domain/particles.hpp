/// Particles: the caller's memory, described, or columns of our own.
#pragma once

#include <array>
#include <vector>

#include "zhalo/comm/context.hpp"
#include "zhalo/core/box.hpp"
#include "zhalo/core/strided.hpp"

namespace zhalo {

/// One piece of the caller's memory (of the context's host or device). All columns have `num`
/// elements; only pos is required.
template <class Real>
struct ParticleSegment {
  Index num = 0;
  std::array<Strided<Real>, 3> pos;    ///< per axis; the third is unused in 2-D
  std::array<RealColumn, 3> velocity;  ///< per axis, or none
  RealColumn mass;                     ///< or none: then Particles::uniform_mass holds for all
  Strided<std::uint8_t> type;          ///< or none: all of one type, 0

  /// Views positions that lie as (num, dimensions), row by row; 2 or 3 dimensions, else InputError.
  static ParticleSegment interleaved(const Real* pos, Index num, int dimensions = 3);
  void set_interleaved_velocity(const Real* velocity, int dimensions = 3);
};

/// The particles of one rank: one or more segments that are never copied, never changed, and must
/// outlive the calls that use them. A particle's identity is its global index: its number in the
/// order of ranks, then segments, then rows.
template <class Real>
struct Particles {
  int dimensions = 3;
  double uniform_mass = 1;  ///< of every particle where a segment has no mass column
  std::vector<ParticleSegment<Real>> segments;

  /// Particles on this rank.
  Index num() const;
};

/// Where this rank's particles lie in the global order. Collective.
struct GlobalRange {
  Index first = 0;  ///< global index of this rank's first particle
  Index total = 0;  ///< over all ranks
};
GlobalRange global_range(const Communicator& comm, Index num);

extern template struct ParticleSegment<float>;
extern template struct ParticleSegment<double>;
extern template struct Particles<float>;
extern template struct Particles<double>;

struct PositionCounts {
  Index num_particles = 0;  ///< over all ranks
  Index num_wrapped =
      0;  ///< of them, those that lie outside a periodic axis: searches wrap them into the box
};

/// Looks at all positions once, as every search does at its beginning; copies nothing. Positions in
/// the box's unit, in memory of the context's Exec. Collective. Throws InputError for positions
/// that are not finite or lie outside an axis that is not periodic, and for a box that cannot be
/// used.
template <class Real>
PositionCounts count_positions(const Context& context, const Particles<Real>& particles,
                               const Box& box);

extern template PositionCounts count_positions(const Context&, const Particles<float>&, const Box&);
extern template PositionCounts count_positions(const Context&, const Particles<double>&,
                                               const Box&);

}  // namespace zhalo
