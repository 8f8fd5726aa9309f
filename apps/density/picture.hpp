/// The picture of a layer of a field seen along an axis, with haloes.
#pragma once

#include <string>
#include <vector>

#include "apps/density/outputs.hpp"
#include "zhalo/mesh/field.hpp"

namespace zhalo::density_app {

/// Mean of the cells in the layer for each pixel of the map, [right * n + up], on all ranks. Cells
/// that are partly within it count for that part. Equal bits for any number of ranks: sums are of
/// integers. Collective.
std::vector<double> project(const Context& context, const Field<float>& field, const View& view,
                            double depth);

/// Those that the picture shows: in the layer, and as large as the user wants. `list` is in the
/// catalogue's order.
std::vector<io::Halo> shown_haloes(const io::HaloList& list, const Plan& plan);

/// The bytes of a PNG of the projected field.
std::string draw(const Plan& plan, std::vector<double> projected,
                 const std::vector<io::Halo>& haloes);

}  // namespace zhalo::density_app
