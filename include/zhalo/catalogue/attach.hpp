/// Particles that join the group of their nearest linked particle: for example gas, stars and black
/// holes, if dark matter is linked.
#pragma once

#include "zhalo/core/buffer.hpp"
#include "zhalo/core/types.hpp"
#include "zhalo/fof/fof.hpp"
#include "zhalo/knn/knn.hpp"

namespace zhalo {

/// Particles whose groups are known.
template <class Real>
struct LabelledParticles {
  const Particles<Real>& particles;
  /// One per particle of this rank, in the caller's order: FofResult::label, or no_group. Memory of
  /// the context's Exec.
  Span<const Index> label;
};

struct AttachResult {
  /// One per particle of `others` on this rank, in the caller's order: the label of the nearest
  /// linked particle, or no_group if none is within the radius. Memory of the context's Exec.
  Buffer<Index> label;
  /// The parts of groups that they are in, if the groups of a domain were given. Roots are indices
  /// among the particles of all species on this rank, one species behind the other.
  LinkedParts parts;
  /// Linked and other particles over all ranks that were outside a periodic axis.
  Index num_wrapped = 0;
};

/// Gives each of `others` the label of the nearest of `linked`, if that is at a distance <= radius.
/// The radius is in the unit of the positions and may be infinite. Of several at the same distance,
/// the one with the smallest global index among `linked` counts. Distances are those of knn(): in
/// the positions' own precision, to the nearest periodic image.
///
/// Collective. Both kinds of particles may be in any order and on any rank; some ranks may have
/// none. The result is equal bit for bit for any number of ranks and threads. make_catalogue()
/// takes these labels together with those of the linked particles, for Particles that have the
/// segments of both. Throws InputError for a radius that is negative or NaN and for labels that are
/// not one per linked particle, and as knn().
template <class Real>
AttachResult attach_particles(const Context& context, const LabelledParticles<Real>& linked,
                              const Particles<Real>& others, const Box& box, double radius);

/// The same for two species of a domain. `label` has the labels of species.targets, which are
/// linked. The result has those of species.queries. Both are in the domain's order. Nothing is
/// sorted. Collective. Throws InputError for a bad radius, for labels that are not one per particle
/// of species.targets on this rank, and as knn() in a domain; OutOfMemory.
template <class Real>
AttachResult attach_particles(const Domain<Real>& domain, Span<const Index> label, double radius,
                              const KnnSpecies& species = {.queries = 1, .targets = 0});

/// The same for groups of the domain, whose first species is linked; `species` is another one.
/// make_catalogue() takes the result beside the groups. Collective. Throws as above, and InputError
/// for a species that does not exist or is the first, and for groups of another domain.
template <class Real>
AttachResult attach_particles(const Domain<Real>& domain, const FofResult& groups, double radius,
                              int species = 1);

}  // namespace zhalo
