/// Potentials and accelerations of a density, at particles.
#pragma once

#include <array>

#include "zhalo/mesh/modes.hpp"
#include "zhalo/mesh/sample.hpp"

namespace zhalo {

struct GravityOptions {
  Laplacian laplacian = Laplacian::exact;
  Derivative derivative = Derivative::exact;
  Window window = Window::cic;  ///< with which fields are read at the places
};

/// The potential phi with Laplacian(phi) = source, at the places.
template <class T, class Real>
Buffer<T> potential_at(const Context& context, const Modes<T>& source, const Particles<Real>& places,
                       const GravityOptions& options = {});

/// - grad phi per axis: of an overdensity, times 3/2 Omega_m H0^2 / a, the peculiar acceleration; and, with no further factor, the
/// displacement of the Zel'dovich approximation. Collective, as sample().
template <class T, class Real>
std::array<Buffer<T>, 3> acceleration_at(const Context& context, const Modes<T>& source, const Particles<Real>& places,
                                         const GravityOptions& options = {});

/// - grad phi per axis, at the cells. Collective.
template <class T>
std::array<Field<T>, 3> acceleration_fields(const Context& context, const Modes<T>& source, const GravityOptions& options = {});

}  // namespace zhalo
