/// From particles to the overdensity, as a field or as modes.
#pragma once

#include "zhalo/mesh/modes.hpp"
#include "zhalo/mesh/paint.hpp"

namespace zhalo {

/// Divides the field by `mean`: cells are then in units of the mean. Not collective. Takes no
/// memory. On a device the work is queued. InputError unless the mean is finite and more than 0.
template <class T>
void to_mean_units(const Context& context, Field<T>& field, double mean);
/// The same, minus 1: each cell becomes value / mean - 1.
template <class T>
void to_overdensity(const Context& context, Field<T>& field, double mean);

struct DensityOptions {
  /// How particles are painted. `values` is ignored: the overdensity is painted.
  PaintOptions paint{};
  /// Paints a second time, on a mesh shifted by half a cell on each axis, and combines both meshes.
  /// This cancels the odd images of higher frequencies (Hockney & Eastwood 1981, 7-8; Sefusatti et
  /// al. 2016, MNRAS 460, 3624, eq. 25). It takes twice the time. Modes at the Nyquist frequency of
  /// an axis are then those of positive k. They differ from those of negative k, which are not
  /// stored, so they are not those of a real field: call remove_nyquist() before a field is made of
  /// them. With accelerations from them, a particle pulls itself (acceleration_at()).
  bool interlaced = false;
  Compensation compensation = Compensation::none;
};

template <class T>
struct DensityModes {
  Modes<T> modes;  ///< of the overdensity; mode 0 is 0
  PaintReport report;
};

/// Paints the particles and transforms their overdensity. Phases count from the middle of cell 0.
/// Collective. Throws as paint(), and InputError if the sum of the weights is not more than 0,
/// PaintOptions::shift is not 0, the box is not periodic along all axes, or options differ between
/// ranks.
template <class T, class Real>
DensityModes<T> density_modes(const Context& context, const Decomposition& decomposition,
                              const Particles<Real>& particles, const DensityOptions& options = {});

/// The same for one species of a domain: see paint(). Collective; throws as above.
template <class T, class Real>
DensityModes<T> density_modes(const Domain<Real>& domain, const Decomposition& decomposition,
                              const DensityOptions& options = {}, int species = 0) {
  return together(domain.context().comm, [&] {
    return density_modes<T>(domain.context(), decomposition, domain.particles(species), options);
  });
}

}  // namespace zhalo
