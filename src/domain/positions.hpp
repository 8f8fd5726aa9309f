/// Positions: whether they can be used, their Z-order keys, and the Z-order of one rank.
#pragma once

#include <utility>
#include <vector>

#include "kernels/particles.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/core/types.hpp"
#include "zhalo/domain/particles.hpp"

namespace zhalo {

/// The caller's particles as kernels see them; holds the table of segments in the memory of the
/// Exec.
template <class Real>
class SegmentTable {
 public:
  /// Positions may be missing where other columns are all that is looked at.
  SegmentTable(const Exec& exec, const Particles<Real>& particles, bool with_positions = true);
  const kernels::ParticlesView<Real>& view() const { return view_; }

 private:
  Buffer<kernels::SegmentView<Real>> segments_;
  kernels::ParticlesView<Real> view_;
};

/// Throws InputError unless the box can be used, for particles of so many dimensions.
void validate_box(const Box& box, int dimensions);

/// Throws InputError if this precision has no room for the box's lengths.
template <class Real>
void validate_box_fits(const Box& box);

/// Counts and extent over all ranks, after every position was found to be usable.
struct Extent {
  GlobalRange range;
  Vec3d lo;
  Vec3d hi;
  Index num_wrapped = 0;
};

/// Looks at all positions. Collective. Throws InputError for positions that are not finite, lie
/// outside a box that is not periodic, or far outside one that is.
template <class Real>
Extent examine_positions(const Context& context, const kernels::ParticlesView<Real>& particles,
                         const Box& box, const PositionsOf& of = {});

/// The same of positions of this rank that have been looked at.
template <class Real>
Extent examine_summary(const Context& context, const kernels::ParticlesView<Real>& particles,
                       const Box& box, const kernels::PositionSummary& summary,
                       const PositionsOf& of = {});

/// examine_positions(), and a kernels::PositionSample of the particles; none of few particles.
template <class Real>
std::pair<Extent, std::vector<Real>> examine_and_sample(
    const Context& context, const kernels::ParticlesView<Real>& particles, const Box& box,
    const PositionsOf& of);

/// Of particles in the box, by magnitude: where it is periodic they may be anywhere in it.
double largest_coordinate(const Box& box, const Extent& extent);

/// Cells of side `cell` or, if that needs more bits than a key has, as fine as keys allow. True in
/// `fine_enough` if it did not.
struct KeyFrameChoice {
  kernels::KeyFrame frame;
  bool fine_enough = false;
  double cell = 0;  ///< the side that was asked for
};
KeyFrameChoice choose_key_frame(const Box& box, const Extent& extent, double cell, double scale);

/// Where cells as fine as keys allow are too coarse, because nearly all particles are in a tiny
/// part of the space that they divide: cells around those particles. The few others share the
/// outermost cells. `sample` is that of examine_and_sample(). Collective.
template <class Real>
KeyFrameChoice around_most(const Communicator& comm, const std::vector<Real>& sample,
                           KeyFrameChoice choice);

/// Cells of this side are clumps: their diagonal is less than the linking length, by more than any
/// rounding.
double clump_cell(double linking_length, int dimensions);

using kernels::SortedColumns;

/// The Z-order of this rank's particles. Not collective.
template <class Real>
SortedColumns<Real> sort_particles(const Context& context,
                                   const kernels::ParticlesView<Real>& particles,
                                   const kernels::KeyFrame& frame);

}  // namespace zhalo
