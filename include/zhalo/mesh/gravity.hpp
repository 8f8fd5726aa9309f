/// Potentials and accelerations of a density, at particles.
#pragma once

#include <array>

#include "zhalo/mesh/modes.hpp"
#include "zhalo/mesh/readout.hpp"

namespace zhalo {

struct GravityOptions {
  Laplacian laplacian = Laplacian::exact;
  Derivative derivative = Derivative::exact;
  Window window = Window::cic;  ///< with which fields are read at the places
};

/// The potential phi with Laplacian(phi) = source, at the places. Collective. Errors as sample(),
/// and InputError for a box that is not periodic. Memory: a field, with several ranks a second one,
/// and a copy of the modes.
template <class T, class Real>
Buffer<T> potential_at(const Context& context, const Modes<T>& source,
                       const Particles<Real>& points, const GravityOptions& options = {});

/// - grad phi per axis. With the source 3/2 Omega_m H0^2 / a times the overdensity, and places
/// comoving, this is d(a^2 dx/dt)/dt; divided by a, the peculiar acceleration, dv/dt + H v with v =
/// a dx/dt (Peebles 1980, chapter II). Of the linear overdensity alone, it is the displacement of
/// the Zel'dovich approximation. Collective. Errors as potential_at(). Memory: three fields and two
/// copies of the modes; with several ranks then three more fields.
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
