/// Quantities of the neighbourhoods of particles that the library computes itself, on any Exec.
#pragma once

#include "zhalo/core/reductions.hpp"
#include "zhalo/knn/knn.hpp"

namespace zhalo {

enum class Quantity {
  kth_radius,   ///< distance to the k-th neighbour (KthRadius)
  mean_radius,  ///< mean distance, without the query (MeanRadius)
  density,      ///< of mass, by an SPH kernel that reaches to the k-th neighbour (SphDensity)
  velocity_dispersion  ///< along one axis (VelocityDispersion); InputError if a segment has no
                       ///< velocities
};

struct QuantityOptions {
  Quantity quantity = Quantity::kth_radius;
  SphKernel kernel = SphKernel::cubic_spline;  ///< of the density
};

/// The quantity of each particle's k nearest neighbours: in the caller's order, in memory of the
/// context's Exec. Sums run over the neighbours in their order, so results are equal bit for bit
/// for any number of ranks and threads. Collective; throws as knn.
template <class Real>
Buffer<double> neighbour_quantity(const Context& context, const Particles<Real>& particles,
                                  const Box& box, const KnnOptions& options,
                                  const QuantityOptions& quantity);

/// The same at the places of queries, which are no particles.
template <class Real>
Buffer<double> neighbour_quantity(const Context& context, const Queries<Real>& among,
                                  const Box& box, const KnnOptions& options,
                                  const QuantityOptions& quantity);

}  // namespace zhalo
