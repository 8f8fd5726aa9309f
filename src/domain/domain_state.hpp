/// What a Domain is made of: particles distributed over ranks, their columns, and trees.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "src/domain/positions.hpp"
#include "src/domain/redistribution.hpp"
#include "zhalo/domain/domain.hpp"
#include "zhalo/domain/particles.hpp"

namespace zhalo {

/// This rank's part of the Z-order, and where it came from.
template <class Real>
struct Distribution {
  SortedColumns<Real> sorted;      ///< without `order`, which the redistribution has
  Redistribution redistribution;   ///< from the caller's order to the Z-order
  Buffer<Index> global_index;      ///< of each sorted particle; on one rank by ensure_global_index
  Index first = 0;                 ///< index of this rank's first particle in the Z-order of all
  std::vector<Index> first_index;  ///< by rank: global index of the first that it brought
  Index num_brought = 0;           ///< by this rank

  Index num() const { return redistribution.num_received(); }
};

/// Weights of this rank's particles, if the ranks agreed that there are any. A rank without any may
/// have no memory for them, so an address alone does not tell.
using OptionalWeights = std::optional<Strided<std::uint32_t>>;

/// Sorts by (key, global index) over all ranks and gives each rank its share: of the number of
/// particles, exactly, or of their weight. Either all ranks have weights or none. Collective.
/// InputError for weights of 0.
template <class Real>
Distribution<Real> distribute_particles(const Context& context,
                                        const kernels::ParticlesView<Real>& particles,
                                        const kernels::KeyFrame& frame,
                                        const OptionalWeights& weight = {});

/// The same for particles that are sorted on this rank already, by a plan of the caller's (on one
/// rank none is needed). Collective.
template <class Real>
Distribution<Real> distribute_sorted(const Context& context, SortedColumns<Real> local,
                                     const ExchangePlan& plan);

/// The redistribution of the sorted particles [first, first + num) alone. Collective.
template <class Real>
Redistribution redistribution_of(const Context& context, const Distribution<Real>& particles,
                                 Index first, Index num);

/// Columns of one species or several, over all ranks: which there are, and in which precision they
/// lose nothing.
struct ColumnTraits {
  bool has_velocity = false;
  bool has_double_velocity = false;
  bool lacks_velocity = false;  ///< some particles have none
  bool has_mass = false;
  bool has_double_mass = false;
  bool has_types = false;  ///< a column of them
  /// Masses of particles without a column, or of which it holds one number, lie between these.
  double min_uniform_mass = std::numeric_limits<double>::infinity();
  double max_uniform_mass = -std::numeric_limits<double>::infinity();

  /// Types of particles without a column, or of which it holds one, lie between these.
  std::uint8_t min_type = 255;
  std::uint8_t max_type = 0;

  void add(const ColumnTraits& other);

  /// What only some particles have is no column: others would seem to have a velocity of 0.
  bool all_have_velocity() const { return has_velocity && !lacks_velocity; }
  bool has_one_type() const { return !has_types && min_type >= max_type; }
  bool some_lack_mass() const { return min_uniform_mass <= max_uniform_mass; }
  bool has_one_mass() const { return !has_mass && min_uniform_mass >= max_uniform_mass; }
  /// A uniform mass is given in double.
  bool needs_double_mass() const { return has_double_mass || some_lack_mass(); }
};

/// Of each species. Collective.
template <class Real>
std::vector<ColumnTraits> agree_on_columns(const Context& context,
                                           const std::vector<Particles<Real>>& species);

/// Owns the columns of one species.
template <class Real>
class ParticleColumns {
 public:
  ParticleColumns() = default;
  /// Brings the columns of the caller's particles into a domain's order. Collective.
  ParticleColumns(const Context& context, const Particles<Real>& particles,
                  const ColumnTraits& traits, const Redistribution& to_domain);

  /// Sets what is known of the particles, of which the segment has the positions. One mass of all
  /// is left out.
  void show_in(ParticleSegment<Real>& segment, int dimensions) const;
  double uniform_mass() const { return uniform_mass_; }
  /// That as a column, which species with other masses can stand beside.
  RealColumn one_mass() const { return {one_mass_.data(), 0}; }
  /// Of the finite ones on this rank; 0 if there are none.
  double max_mass() const { return max_mass_; }
  double max_velocity() const { return max_velocity_; }

 private:
  double uniform_mass_ = 1;
  double max_mass_ = 1;
  double max_velocity_ = 0;
  Buffer<float> velocity_float_, mass_float_;
  Buffer<double> velocity_, mass_, one_mass_;
  Buffer<std::uint8_t> type_;
};

template <class Real>
struct DomainSpecies {
  Distribution<Real> particles;
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
  /// Of all particles of all species and ranks, if they have the same.
  std::optional<double> only_mass = 1;
  std::optional<int> only_type = 0;
  bool is_shared = true;  ///< others may use the domain later

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
  OptionalWeights weight{};
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
void add_columns(DomainState<Real>& state, const std::vector<Particles<Real>>& species);

/// Where the particles of a species begin among those of all species on this rank.
template <class Real>
Index first_of_species(const Domain<Real>& domain, int species) {
  Index first = 0;
  for (int before = 0; before < species; ++before) first += domain.num(before);
  return first;
}

/// Particles of all species on this rank.
template <class Real>
Index num_of_species(const Domain<Real>& domain) {
  return first_of_species(domain, domain.num_species());
}

/// A view of all species, a segment each, with coordinates as they are sorted: wrapped and scaled.
template <class Real>
Particles<Real> stored_particles(const DomainState<Real>& state);

/// Positions in the unit of the caller: the scale is a power of two, so they are exact.
template <class Real>
void unscale(const Exec& exec, SortedColumns<Real>& sorted, Buffer<Real> (&to)[3]);

}  // namespace zhalo
