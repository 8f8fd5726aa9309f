/// Where particles lie, seen from a box.
#pragma once

#include "zhalo/comm/context.hpp"
#include "zhalo/core/box.hpp"
#include "zhalo/domain/particles.hpp"

namespace zhalo {

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
