/// The library's own reductions of neighbours.
#pragma once

#include "kernels/common/backend.hpp"
#include "kernels/knn.hpp"
#include "zhalo/core/reductions.hpp"

namespace zhalo::kernels {

template <class E, class Real>
void reduce_kth_radius(const E& exec, const NeighbourRows<Real>& rows, Span<double> results) {
  for_each(exec, rows.num, ReduceRow<Real, KthRadius, double>{rows, {}, {}, results});
}

template <class E, class Real>
void reduce_mean_radius(const E& exec, const NeighbourRows<Real>& rows, Span<double> results) {
  for_each(exec, rows.num, ReduceRow<Real, MeanRadius, double>{rows, {}, {}, results});
}

template <class E, class Real>
void reduce_density(const E& exec, const NeighbourRows<Real>& rows, const QuantityColumns& columns,
                    SphKernel kernel, Span<double> results) {
  const SphDensity density{{kernel, columns.dimensions}};
  for_each(exec, rows.num,
           ReduceRow<Real, SphDensity, double, double>{rows, {columns.mass, {}}, density, results});
}

template <int dimensions, class E, class Real>
void reduce_dispersion_in(const E& exec, const NeighbourRows<Real>& rows,
                          const QuantityColumns& columns, Span<double> results) {
  using Velocity = Vec<double, dimensions>;
  const SearchColumn<Velocity> velocity{reinterpret_cast<const Velocity*>(columns.velocity.own),
                                        reinterpret_cast<const Velocity*>(columns.velocity.fetched),
                                        columns.velocity.num_own};
  for_each(exec, rows.num,
           ReduceRow<Real, VelocityDispersion<dimensions>, double, double, Velocity>{
               rows, {columns.mass, {velocity, {}}}, {}, results});
}

template <class E, class Real>
void reduce_dispersion(const E& exec, const NeighbourRows<Real>& rows,
                       const QuantityColumns& columns, Span<double> results) {
  if (columns.dimensions == 3) return reduce_dispersion_in<3>(exec, rows, columns, results);
  reduce_dispersion_in<2>(exec, rows, columns, results);
}

ZHALO_INSTANTIATE_REALS(reduce_kth_radius);
ZHALO_INSTANTIATE_REALS(reduce_mean_radius);
ZHALO_INSTANTIATE_REALS(reduce_density);
ZHALO_INSTANTIATE_REALS(reduce_dispersion);

}  // namespace zhalo::kernels
