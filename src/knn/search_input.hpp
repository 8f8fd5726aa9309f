/// Particles and queries of a search: in Z-order, on the ranks where they are searched, with the
/// way back.
#pragma once

#include <optional>
#include <vector>

#include "src/domain/distribution.hpp"
#include "zhalo/knn/neighbour_lists.hpp"

namespace zhalo {

/// Over all ranks.
struct SearchCounts {
  Index num_particles = 0;
  Index num_queries = 0;
  Index num_wrapped = 0;  ///< of both
};

/// What a search looks in and for.
template <class Real>
struct SearchInput {
  DistributedParticles<Real> particles;
  std::optional<DistributedParticles<Real>> queries;  ///< none: the particles themselves
  SearchCounts counts;
};

/// Checks, sorts, and (with several ranks) brings particles and queries together: each rank gets an
/// even part of the Z-order of both. Collective.
template <class Real>
SearchInput<Real> make_search_input(const Context& context, const SearchedParticles<Real>& searched,
                                    const Box& box, const std::vector<ColumnView>& columns);

}  // namespace zhalo
