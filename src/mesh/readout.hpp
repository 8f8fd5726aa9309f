/// readout() after its checks, whose parts a test makes small.
#pragma once

#include <vector>

#include "src/mesh/particle_route.hpp"
#include "zhalo/mesh/readout.hpp"

namespace zhalo {

/// Values of fields of one decomposition at positions within its box. More positions than the
/// limits allow travel in parts. Collective.
template <class T, class Real>
std::vector<Buffer<T>> readout_checked(const Context& context,
                                       const std::vector<const Field<T>*>& fields,
                                       const kernels::ParticlesView<Real>& points, Window window,
                                       const RouteLimits& limits = {});

}  // namespace zhalo
