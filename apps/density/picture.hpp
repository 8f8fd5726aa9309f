/// The picture of a field, with haloes.
#pragma once

#include <string>
#include <vector>

#include "apps/density/plan.hpp"
#include "zhalo/io/halo_list.hpp"

namespace zhalo::density_app {

/// Those that the picture shows: in the layer, and as large as the user wants. `list` is in the
/// catalogue's order.
std::vector<io::Halo> shown_haloes(const io::HaloList& list, const Plan& plan);

/// The bytes of a PNG of the projected field.
std::string draw(const Plan& plan, std::vector<double> projected,
                 const std::vector<io::Halo>& haloes);

}  // namespace zhalo::density_app
