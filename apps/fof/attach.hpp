/// Linking some of the loaded types and attaching the others.
#pragma once

#include "apps/fof/plan.hpp"
#include "zhalo/fof/fof.hpp"
#include "zhalo/io/load.hpp"

namespace zhalo::fof_app {

/// What make_catalogue needs, and what was met on the way.
struct Grouped {
  Buffer<Index> label;  ///< of each loaded particle, or no_group
  Index num_wrapped = 0;
  FofStatistics statistics;
};

/// Links the particles of the linked types and attaches those of the others. Collective; throws as
/// the library does.
template <class Real>
Grouped link_and_attach(const Context& context, const io::LoadedParticles<Real>& loaded,
                        const Plan& plan);

extern template Grouped link_and_attach(const Context&, const io::LoadedParticles<float>&,
                                        const Plan&);
extern template Grouped link_and_attach(const Context&, const io::LoadedParticles<double>&,
                                        const Plan&);

}  // namespace zhalo::fof_app
