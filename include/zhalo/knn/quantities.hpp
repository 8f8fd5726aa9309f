/// Quantities of the neighbourhoods of particles that the library computes itself, on any Exec.
#pragma once

#include "zhalo/core/reductions.hpp"
#include "zhalo/knn/knn.hpp"

namespace zhalo {

/// The quantity of each particle's k nearest neighbours: in the caller's order, in memory of the
/// context's Exec. Sums run over the neighbours in their order, so results are equal bit for bit
/// for any number of ranks and threads. Collective; throws as knn.
template <class Real>
Buffer<double> neighbour_quantity(const Context& context, const Particles<Real>& particles,
                                  const Box& box, const KnnOptions& options,
                                  const QuantityOptions& quantity);

/// The same at query points.
template <class Real>
Buffer<double> neighbour_quantity(const Context& context, const Queries<Real>& among,
                                  const Box& box, const KnnOptions& options,
                                  const QuantityOptions& quantity);

}  // namespace zhalo
