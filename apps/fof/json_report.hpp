/// The report for machines.
#pragma once

#include <string>

#include "apps/fof/plan.hpp"

namespace zhalo::fof_app {

std::string to_json(const Plan& plan);

}  // namespace zhalo::fof_app
