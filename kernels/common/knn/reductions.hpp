/// The library's own reductions of neighbours, by the table in kernels/knn.hpp.
#pragma once

#include "kernels/common/backend.hpp"
#include "kernels/knn.hpp"

namespace zhalo::kernels {

template <int dimensions, class E, class Real>
void reduce_rows_in(const E& exec, const NeighbourRows<Real>& rows, const QuantityColumns& columns,
                    const QuantityOptions& wanted, Span<double> results) {
  using Velocity = Vec<double, dimensions>;
  const SearchColumn<Velocity> velocity{reinterpret_cast<const Velocity*>(columns.velocity.own),
                                        reinterpret_cast<const Velocity*>(columns.velocity.fetched),
                                        columns.velocity.num_own};
  with_reduction<dimensions>(wanted, [&](const auto& reduction) {
    using Reduction = std::decay_t<decltype(reduction)>;
    if constexpr (num_columns_of<Reduction> == 0) {
      using Reduce = ReduceRow<Real, Reduction, double>;
      for_each(exec, rows.num, Reduce{rows, {}, reduction, results});
    } else if constexpr (num_columns_of<Reduction> == 1) {
      using Reduce = ReduceRow<Real, Reduction, double, double>;
      for_each(exec, rows.num, Reduce{rows, {columns.mass, {}}, reduction, results});
    } else {
      using Reduce = ReduceRow<Real, Reduction, double, double, Velocity>;
      for_each(exec, rows.num, Reduce{rows, {columns.mass, {velocity, {}}}, reduction, results});
    }
  });
}

template <class E, class Real>
void reduce_rows(const E& exec, const NeighbourRows<Real>& rows, const QuantityColumns& columns,
                 const QuantityOptions& wanted, Span<double> results) {
  if (columns.dimensions == 3) return reduce_rows_in<3>(exec, rows, columns, wanted, results);
  reduce_rows_in<2>(exec, rows, columns, wanted, results);
}

ZHALO_INSTANTIATE_REALS(reduce_rows);

}  // namespace zhalo::kernels
