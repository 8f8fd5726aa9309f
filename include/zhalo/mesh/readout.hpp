/// From fields to values at points.
#pragma once

#include <utility>
#include <vector>

#include "zhalo/core/buffer.hpp"
#include "zhalo/domain/domain.hpp"
#include "zhalo/mesh/field.hpp"
#include "zhalo/mesh/window.hpp"

namespace zhalo {

/// Reads fields at the positions of `points`. Each value is the mean of the cells around the point,
/// weighted by the window: the transpose of paint(). Returns one array per field, with one value
/// per point of this rank in the caller's order, in memory of the context's Exec. Ghost cells are
/// not used. Beyond the edge of an axis that is not periodic, the outermost cell continues.
///
/// Values are equal bit for bit for any number of ranks and threads and on any backend: sums are in
/// double and in a fixed order. Collective; points may be on any rank. Several ranks need memory
/// for a second copy of each field, with ghosts, and for at most 2^23 points that are sent and
/// about 2^24 that are received. Throws InputError as paint(), and if the fields have different
/// decompositions; OutOfMemory. T, Real: float or double.
template <class T, class Real>
std::vector<Buffer<T>> readout(const Context& context, const std::vector<const Field<T>*>& fields,
                               const Particles<Real>& points, Window window = Window::cic);

/// The same at the particles of one species of a domain. Values are in the domain's order.
/// Collective; throws as above, and InputError if there is no such species.
template <class T, class Real>
std::vector<Buffer<T>> readout(const Domain<Real>& domain,
                               const std::vector<const Field<T>*>& fields,
                               Window window = Window::cic, int species = 0) {
  return together(domain.context().comm, [&] {
    return readout(domain.context(), fields, domain.particles(species), window);
  });
}

/// The same for one field.
template <class T, class Real>
Buffer<T> readout(const Context& context, const Field<T>& field, const Particles<Real>& points,
                  Window window = Window::cic) {
  return std::move(readout(context, std::vector<const Field<T>*>{&field}, points, window).front());
}
template <class T, class Real>
Buffer<T> readout(const Domain<Real>& domain, const Field<T>& field, Window window = Window::cic,
                  int species = 0) {
  return std::move(readout(domain, std::vector<const Field<T>*>{&field}, window, species).front());
}

}  // namespace zhalo
