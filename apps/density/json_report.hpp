/// The report for machines.
#pragma once

#include <string>

#include "apps/density/plan.hpp"

namespace zhalo::density_app {

std::string to_json(const Plan& plan);

}  // namespace zhalo::density_app
