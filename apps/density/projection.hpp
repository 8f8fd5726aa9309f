/// A layer of a field seen along an axis.
#pragma once

#include <array>
#include <vector>

#include "apps/density/plan.hpp"
#include "zhalo/mesh/field.hpp"

namespace zhalo::density_app {

/// The two axes of the map, right and up, that go with the one along which one looks.
std::array<int, 2> map_axes(int axis);

/// Mean of the cells in the layer for each place of the map, [right * n + up], on all ranks. Cells
/// that are partly within it count for that part. Equal bits for any number of ranks: sums are of
/// integers. Collective.
std::vector<double> project(const Context& context, const Field<float>& field, const View& view,
                            double depth);

}  // namespace zhalo::density_app
