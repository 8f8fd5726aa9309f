/// Particles and queries of a search, where they are searched.
#pragma once

#include <memory>
#include <vector>

#include "src/domain/domain_state.hpp"
#include "zhalo/knn/neighbour_lists.hpp"

namespace zhalo {

template <class Real>
struct SearchInput {
  std::shared_ptr<DomainState<Real>> domain;
  KnnSpecies species;
  std::vector<ColumnView> columns;                 ///< of the targets, in the domain's order
  std::vector<Buffer<std::byte>> columns_of_ours;  ///< what the views show, if it was brought here

  bool queries_are_particles() const { return species.queries == species.targets; }
  DomainSpecies<Real>& of(int which) const {
    return domain->species[static_cast<std::size_t>(which)];
  }
  DistributedParticles<Real>& particles() const { return of(species.targets).particles; }
  DistributedParticles<Real>& queries() const { return of(species.queries).particles; }
};

/// Makes a domain of the caller's particles and queries, or takes the one that is given; brings
/// columns of the caller's into its order. All has been validated. Collective.
template <class Real>
SearchInput<Real> make_search_input(const Context& context, const KnnTargets<Real>& targets,
                                    const Box& box, const std::vector<ColumnView>& columns);

}  // namespace zhalo
