/// Particles brought to the ranks that own the cells which they touch.
#pragma once

#include <functional>

#include "kernels/mesh.hpp"
#include "src/domain/redistribution.hpp"
#include "zhalo/comm/context.hpp"
#include "zhalo/fft/decomposition.hpp"

namespace zhalo {

/// What came to this rank. The first cells of all their clouds are its own.
template <class Real>
struct RoutedPart {
  kernels::PaintInput<Real> painted;  ///< in the order of ranks
  /// Of this rank's own particles from `first` on.
  Redistribution redistribution;
  Index first = 0;
};

/// They bound the memory, not the number of particles.
struct RouteLimits {
  Index max_sent = Index{1} << 23;  ///< by a rank at a time
  Index max_received =
      Index{1} << 24;  ///< about so many at a time, however many others send to a rank
};

/// What travels, by the cells to which it goes.
template <class Real>
struct Route {
  kernels::PaintInput<Real> painted;
  kernels::MeshCells cells;
  bool with_weights = true;
  RouteLimits limits = {};
};

/// Calls visit(part) until all particles of all ranks have come, as often on each rank. Collective.
template <class Real>
void for_each_routed(const Context& context, const Decomposition& decomposition,
                     const Route<Real>& route,
                     const std::function<void(const RoutedPart<Real>&)>& visit);

}  // namespace zhalo
