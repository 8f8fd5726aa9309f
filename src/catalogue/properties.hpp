/// Sums over the members of groups.
#pragma once

#include "kernels/catalogue.hpp"
#include "zhalo/catalogue/catalogue.hpp"

namespace zhalo {

/// This rank's members, group by group.
template <class Real>
struct GroupMembers {
  const kernels::ParticlesView<Real>& particles;
  Span<const std::uint64_t> keys;  ///< as in SortedMembers
  Span<const LocalIndex> index;    ///< of each among the particles
  int num_species = 1;
};

/// Fills the properties and the columns by type of this rank's rows, wherever the members are.
/// Lengths are known already. Collective.
template <class Real>
void sum_properties(const Context& context, const GroupMembers<Real>& members,
                    const kernels::HaloFrame& halo, Catalogue& catalogue);

}  // namespace zhalo
