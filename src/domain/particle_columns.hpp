/// Masses, velocities and types of particles, in the order of a domain.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "src/domain/redistribution.hpp"
#include "zhalo/domain/particles.hpp"

namespace zhalo {

/// What all ranks agree on before columns travel: which there are, and in which precision they lose
/// nothing.
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

  bool has_one_type() const { return !has_types && min_type >= max_type; }
  bool some_lack_mass() const { return min_uniform_mass <= max_uniform_mass; }
  bool has_one_mass() const { return !has_mass && min_uniform_mass >= max_uniform_mass; }
  /// A uniform mass is given in double.
  bool needs_double_mass() const { return has_double_mass || some_lack_mass(); }
};

/// Of all species on all ranks. Collective.
template <class Real>
ColumnTraits agree_on_columns(const Context& context, const std::vector<Particles<Real>>& species);

/// Owns the columns of one species.
template <class Real>
class ParticleColumns {
 public:
  ParticleColumns() = default;
  /// Brings the columns of the caller's particles into a domain's order. Collective.
  ParticleColumns(const Context& context, const Particles<Real>& particles,
                  const ColumnTraits& traits, const Redistribution& to_domain);

  /// Sets what is known of the particles, of which the segment has the positions.
  void show_in(Particles<Real>& particles) const;
  /// Of the finite ones on this rank; 0 if there are none.
  double max_mass() const { return max_mass_; }
  double max_velocity() const { return max_velocity_; }

 private:
  double uniform_mass_ = 1;
  double max_mass_ = 1;
  double max_velocity_ = 0;
  Buffer<float> velocity_float_, mass_float_;
  Buffer<double> velocity_, mass_;
  Buffer<std::uint8_t> type_;
};

}  // namespace zhalo
