/// Potentials and accelerations from a density, at particles or cells.
#pragma once

#include <array>

#include "zhalo/mesh/modes.hpp"
#include "zhalo/mesh/paint.hpp"

namespace zhalo {

struct GravityOptions {
  Laplacian laplacian = Laplacian::exact;
  Derivative derivative = Derivative::exact;
  Window window = Window::cic;  ///< for the readout of fields
};

/// The potential phi with Laplacian(phi) = source, at the positions of `points`: one value per
/// point of this rank, in the caller's order, in memory of the context's Exec. Collective. Throws
/// as readout(), and InputError for a box that is not periodic along all axes, or options that
/// differ between ranks. Memory: a field, a second one with several ranks, and a copy of the modes.
template <class T, class Real>
Buffer<T> potential_at(const Context& context, const Modes<T>& source,
                       const Particles<Real>& points, const GravityOptions& options = {});

/// The same at the particles of one species of a domain. Values are in the domain's order.
/// Collective; throws as above, and InputError if there is no such species.
template <class T, class Real>
Buffer<T> potential_at(const Domain<Real>& domain, const Modes<T>& source,
                       const GravityOptions& options = {}, int species = 0) {
  return together(domain.context().comm, [&] {
    return potential_at(domain.context(), source, domain.particles(species), options);
  });
}

/// The acceleration -grad phi per axis, at the positions of `points`; phi as in potential_at().
///
/// Its unit follows from the source. If the source is 3/2 Omega_m H0^2 / a times the overdensity,
/// in comoving coordinates, the result is d(a^2 dx/dt)/dt. Divided by a, it is the peculiar
/// acceleration dv/dt + H v, with v = a dx/dt (Peebles 1980, chapter II). If the source is the
/// linear overdensity alone, the result is the displacement of the Zel'dovich approximation.
///
/// A particle does not pull itself, and the forces on equal particles add up to 0, if the source
/// was painted with the window of the readout and is not interlaced. Interlaced modes
/// (DensityOptions::interlaced) come in part from a shifted mesh, which is not read out.
/// Collective. Throws as potential_at(). Memory: three fields, three more with several ranks, and
/// two copies of the modes.
template <class T, class Real>
std::array<Buffer<T>, 3> acceleration_at(const Context& context, const Modes<T>& source,
                                         const Particles<Real>& points,
                                         const GravityOptions& options = {});

/// The same at the particles of one species of a domain: see potential_at().
template <class T, class Real>
std::array<Buffer<T>, 3> acceleration_at(const Domain<Real>& domain, const Modes<T>& source,
                                         const GravityOptions& options = {}, int species = 0) {
  return together(domain.context().comm, [&] {
    return acceleration_at(domain.context(), source, domain.particles(species), options);
  });
}

/// The acceleration -grad phi per axis, at the cells. Collective. InputError for a box that is not
/// periodic along all axes, or options that differ between ranks; OutOfMemory. Memory besides the
/// result: two copies of the modes.
template <class T>
std::array<Field<T>, 3> acceleration_fields(const Context& context, const Modes<T>& source,
                                            const GravityOptions& options = {});

}  // namespace zhalo
