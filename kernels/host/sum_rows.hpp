/// Rows of sums of cells, a vector at a time.
#pragma once

#include "kernels/mesh.hpp"

namespace zhalo::kernels {

/// to[i] += from[i].
void add_row(const Index* from, Index num, Index* to);

/// to[i] = from[i] * factor + addend, by the operations of MapCells in
/// kernels/common/mesh/paint.hpp in their order. Returns the sum of `from`.
Index write_row(const Index* from, Index num, const LinearMap& map, float* to);
Index write_row(const Index* from, Index num, const LinearMap& map, double* to);

}  // namespace zhalo::kernels
