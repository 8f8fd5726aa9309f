/// What a Domain is made of.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "src/domain/distribution.hpp"
#include "src/domain/particle_columns.hpp"
#include "zhalo/domain/domain.hpp"

namespace zhalo {

template <class Real>
struct DomainSpecies {
  DistributedParticles<Real> particles;
  Extent extent;
  Buffer<Real> unscaled[3];  ///< positions in the caller's unit, where somebody asked for them
  ParticleColumns<Real> columns;
  /// Trees over the particles, by leaf size and by whether equal keys stay in one leaf.
  std::map<std::pair<int, bool>, std::shared_ptr<const void>> trees;
};

template <class Real>
struct DomainState {
  const Context& context;
  Box box;
  KeyFrameChoice key_frame;
  std::vector<DomainSpecies<Real>> species;
  bool has_velocities = false;  ///< all particles of all ranks
  bool is_shared = true;        ///< others may use the domain later

  Index num_wrapped() const;
};

/// Particles that are to be in a domain.
template <class Real>
struct SpeciesInput {
  const Particles<Real>& particles;
  PositionsOf of{};
  /// Query points may lie outside a box that is not periodic.
  bool may_lie_outside = false;
};

/// How a domain is to be cut and sorted.
struct DomainRequest {
  /// The key frame for the extents of the first species, and of all. None: the finest.
  std::function<KeyFrameChoice(const Extent& first, const Extent& all)> choose{};
  double min_length = 0;  ///< DomainOptions::min_length, where nothing chooses
  Strided<std::uint32_t> weight{nullptr};
  bool is_shared = false;
};

/// Looks at all positions, sorts them, and gives each rank its part. Box and species have been
/// validated. Collective.
template <class Real>
std::shared_ptr<DomainState<Real>> make_domain(const Context& context,
                                               const std::vector<SpeciesInput<Real>>& inputs,
                                               const Box& box, const DomainRequest& request);

/// Keys, and on one rank global indices, are there only while somebody needs them. These calls make
/// them again. Not collective.
template <class Real>
void ensure_keys(DomainState<Real>& state, int species);
template <class Real>
void ensure_global_index(DomainState<Real>& state, int species);

/// Brings masses, velocities and types of all species; numbers of particles must fit. Collective.
template <class Real>
void bring_columns(DomainState<Real>& state, const std::vector<Particles<Real>>& species);

/// A view of all species, a segment each, with coordinates as they are sorted: wrapped and scaled.
template <class Real>
Particles<Real> stored_particles(const DomainState<Real>& state);

/// Positions in the unit of the caller: the scale is a power of two, so they are exact.
template <class Real>
void unscale(const Exec& exec, SortedParticles<Real>& sorted, Buffer<Real> (&to)[3]);

}  // namespace zhalo
