/// The report for machines.
#pragma once

#include <string>

#include "apps/density/summary.hpp"

namespace zhalo::density_app {

std::string to_json(const Summary& summary);

}  // namespace zhalo::density_app
