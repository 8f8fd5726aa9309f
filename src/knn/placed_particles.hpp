/// Particles and queries of a search: in Z-order, on the ranks where they are searched, with the
/// way back.
#pragma once

#include <optional>
#include <vector>

#include "src/domain/distribution.hpp"
#include "zhalo/knn/neighbour_lists.hpp"

namespace zhalo {

/// This rank's part of the Z-order.
template <class Real>
struct PlacedParticles {
  SortedParticles<Real>
      sorted;  ///< `order`: places among what came (of one rank: among what it brought)
  Buffer<Index> global_index;
  std::vector<Buffer<std::byte>> columns;
  std::vector<Index> received_offset;  ///< by rank, in the numbering of sorted.order
  std::vector<Index> first_index;      ///< by rank: global index of the first that it brought
  Index num_brought = 0;               ///< by this rank

  Index num() const { return sorted.order.size(); }
};

/// Over all ranks.
struct SearchCounts {
  Index num_particles = 0;
  Index num_queries = 0;
  Index num_wrapped = 0;  ///< of both
};

/// What a search looks in and for.
template <class Real>
struct SearchInput {
  PlacedParticles<Real> particles;
  std::optional<PlacedParticles<Real>> queries;  ///< none: the particles themselves
  SearchCounts counts;
};

/// Checks, sorts, and (with several ranks) brings particles and queries together: each rank gets an
/// even part of the Z-order of both. Collective.
template <class Real>
SearchInput<Real> place_particles(const Context& context, const SearchedParticles<Real>& searched,
                                  const Box& box, const std::vector<TravellingColumn>& columns);

/// Where the sorted particles [first, first + origins.size()) came from.
template <class Real>
void find_origins(const Exec& exec, const PlacedParticles<Real>& particles, Index first,
                  Span<ParticleLocation> origins);

}  // namespace zhalo
