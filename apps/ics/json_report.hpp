/// The report for machines.
#pragma once

#include <string>

#include "apps/ics/plan.hpp"

namespace zhalo::ics_app {

std::string to_json(const Plan& plan);

}  // namespace zhalo::ics_app
