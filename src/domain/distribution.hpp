/// Particles of all ranks brought into one Z-order, in even parts, and results brought back.
#pragma once

#include <cstddef>
#include <vector>

#include "src/domain/redistribution.hpp"
#include "src/domain/sorted_particles.hpp"

namespace zhalo {

/// This rank's part of the Z-order, and where it came from.
template <class Real>
struct DistributedParticles {
  SortedParticles<Real> sorted;    ///< without `order`, which the redistribution has
  Redistribution redistribution;   ///< from the caller's order to the Z-order
  Buffer<Index> global_index;      ///< of each sorted particle; on one rank by ensure_global_index
  Index first = 0;                 ///< index of this rank's first particle in the Z-order of all
  std::vector<Index> first_index;  ///< by rank: global index of the first that it brought
  Index num_brought = 0;           ///< by this rank

  Index num() const { return redistribution.num_received(); }
};

/// Sorts by (key, global index) over all ranks and gives each rank its share: of the number of
/// particles, exactly, or of their weight. Collective. InputError for weights of 0.
template <class Real>
DistributedParticles<Real> distribute_particles(const Context& context,
                                                const kernels::ParticlesView<Real>& particles,
                                                const kernels::KeyFrame& frame,
                                                const Strided<std::uint32_t>& weight = {nullptr});

/// The same for particles that are sorted on this rank already, by a plan of the caller's (on one
/// rank none is needed). Collective.
template <class Real>
DistributedParticles<Real> distribute_sorted(const Context& context, SortedParticles<Real> local,
                                             const ExchangePlan& plan);

/// The redistribution of the sorted particles [first, first + num) alone. Collective.
template <class Real>
Redistribution redistribution_of(const Context& context,
                                 const DistributedParticles<Real>& particles, Index first,
                                 Index num);

}  // namespace zhalo
