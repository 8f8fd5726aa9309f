/// Sums over the members of groups.
#pragma once

#include "src/catalogue/members.hpp"

namespace zhalo {

/// Fills the columns of properties: on the rank where a group's row is, wherever its members are.
/// Collective. `catalogue` has its order already.
template <class Real>
void sum_properties(const Context& context, Members members,
                    const kernels::ParticlesView<Real>& particles, const Box& box,
                    Catalogue& catalogue);

}  // namespace zhalo
