/// Particles of all ranks brought into one Z-order, in even parts, and results brought back.
#pragma once

#include <cstddef>
#include <vector>

#include "src/domain/sorted_particles.hpp"
#include "zhalo/domain/z_order.hpp"

namespace zhalo {

/// This rank's part of the Z-order, and where it came from. `sorted.order` holds places among what
/// was received.
template <class Real>
struct DistributedParticles {
  SortedParticles<Real> sorted;
  Buffer<Index> global_index;  ///< of each sorted particle
  Buffer<LocalIndex>
      sent;  ///< the caller's place of each particle, in the order in which they were sent
  ExchangePlan plan;
  Index first = 0;  ///< place of this rank's first particle in the Z-order of all
  std::vector<Buffer<std::byte>> columns;
};

/// What decides the parts, and what else travels.
struct DistributionOptions {
  Strided<std::uint32_t> weight;  ///< or none
  std::vector<TravellingColumn> columns;
};

/// Sorts by (key, global index) over all ranks and gives each rank its share: of the number of
/// particles, exactly, or of their weight. One exchange carries keys, positions, and all columns.
/// Collective. InputError for weights of 0.
template <class Real>
DistributedParticles<Real> distribute_particles(const Context& context,
                                                const kernels::ParticlesView<Real>& particles,
                                                const kernels::KeyFrame& frame,
                                                const DistributionOptions& options = {});

/// The same for particles that are sorted on this rank already, by a plan of the caller's.
/// Collective.
template <class Real>
DistributedParticles<Real> distribute_sorted(const Context& context, SortedParticles<Real> local,
                                             const ExchangePlan& plan,
                                             const std::vector<TravellingColumn>& travelling);

/// Elements in the order of `sorted.order`'s numbers (as received) to the caller's order and rank.
/// Collective.
struct ReturnedColumn {
  const void* from = nullptr;
  void* to = nullptr;
  Index element_size = 0;
};
template <class Real>
void send_back(const Context& context, const DistributedParticles<Real>& particles,
               const ReturnedColumn& column);

}  // namespace zhalo
