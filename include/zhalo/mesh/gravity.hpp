/// Potentials and accelerations of a density, at particles.
#pragma once

#include <array>

#include "zhalo/mesh/modes.hpp"
#include "zhalo/mesh/readout.hpp"

namespace zhalo {

struct GravityOptions {
  Laplacian laplacian = Laplacian::exact;
  Derivative derivative = Derivative::exact;
  Window window = Window::cic;  ///< with which fields are read out
};

/// The potential phi with Laplacian(phi) = source, at the positions of `points`. Collective. Throws
/// as readout(), and InputError for a box that is not periodic. Memory: a field, with several ranks
/// a second one, and a copy of the modes.
template <class T, class Real>
Buffer<T> potential_at(const Context& context, const Modes<T>& source,
                       const Particles<Real>& points, const GravityOptions& options = {});

/// - grad phi per axis, at the positions of `points`.
///
/// With the source 3/2 Omega_m H0^2 / a times the overdensity, in comoving coordinates, this is
/// d(a^2 dx/dt)/dt. Divided by a it is the peculiar acceleration dv/dt + H v, with v = a dx/dt
/// (Peebles 1980, chapter II). With the linear overdensity alone as source it is the displacement
/// of the Zel'dovich approximation. Collective. Throws as potential_at(). Memory: three fields and
/// two copies of the modes; with several ranks three more fields.
template <class T, class Real>
std::array<Buffer<T>, 3> acceleration_at(const Context& context, const Modes<T>& source,
                                         const Particles<Real>& points,
                                         const GravityOptions& options = {});

/// - grad phi per axis, at the cells. Collective. InputError for a box that is not periodic;
/// OutOfMemory. Memory besides the result: two copies of the modes.
template <class T>
std::array<Field<T>, 3> acceleration_fields(const Context& context, const Modes<T>& source,
                                            const GravityOptions& options = {});

}  // namespace zhalo
