/// SPH densities of rows of neighbours on the host, with the weights of several neighbours in a
/// vector.
#pragma once

#include <limits>

#include "kernels/common/backend.hpp"
#include "kernels/knn.hpp"

namespace zhalo::kernels {

/// The neighbours of a query, which has a smoothing length.
template <class Real>
struct NeighbourDistances {
  const Real* distance2;  ///< scaled; Buffer::padding more elements may be read
  Index num;
  double unit;     ///< of the scaled lengths
  double support;  ///< distance of the last neighbour
};

/// The sum of m W(r, H), neighbour after neighbour: the bits of SphDensity.
template <class Real, class Masses>
double sph_density(const SphWeight& weight, const NeighbourDistances<Real>& near,
                   const Masses& mass);

/// SphDensity, bit for bit.
struct SphDensityInVectors : SphDensity {
  template <class Real, class Masses>
  double operator()(const Neighbours<Real>& near, const Masses& mass) const {
    const Index num = near.size();
    if (num == 0) return 0;
    const double support = near.distance(num - 1);
    if (support == 0) return std::numeric_limits<double>::infinity();
    const NeighbourDistances<Real> distances{near.scaled_distance2, num, near.unit, support};
    return sph_density(weight, distances, mass);
  }
};

template <>
struct ReductionOn<Host, SphDensity> {
  using type = SphDensityInVectors;
};

}  // namespace zhalo::kernels
