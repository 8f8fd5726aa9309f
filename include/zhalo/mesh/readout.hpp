/// From fields to values at places.
#pragma once

#include <utility>
#include <vector>

#include "zhalo/core/buffer.hpp"
#include "zhalo/domain/particles.hpp"
#include "zhalo/mesh/field.hpp"
#include "zhalo/mesh/window.hpp"

namespace zhalo {

/// Values of fields at the positions of `places`, each the window's mean of the cells around it:
/// the transpose of paint(). One array per field, one value per place of this rank in the caller's
/// order, in memory of the context's Exec. The fields' cells() count, ghosts do not. On an axis
/// that is not periodic, cells beyond the edge are as the outermost.
///
/// Sums are in double and in one order: values do not depend on the number of ranks, threads, or
/// the backend, bit for bit. Collective; places on any rank, up to max_local_particles of each.
/// Memory beyond the values: with several ranks a second copy of each field, with ghosts, and of at
/// most 2^23 places that are sent and about 2^24 that are received. InputError as paint(), or if
/// the fields have different decompositions; OutOfMemory. T, Real: float or double.
template <class T, class Real>
std::vector<Buffer<T>> readout(const Context& context, const std::vector<const Field<T>*>& fields,
                               const Particles<Real>& points, Window window = Window::cic);

template <class T, class Real>
Buffer<T> readout(const Context& context, const Field<T>& field, const Particles<Real>& points,
                  Window window = Window::cic) {
  return std::move(readout(context, std::vector<const Field<T>*>{&field}, points, window).front());
}

}  // namespace zhalo
