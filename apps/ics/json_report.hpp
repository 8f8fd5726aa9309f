/// The report for machines.
#pragma once

#include <string>

#include "apps/ics/summary.hpp"

namespace zhalo::ics_app {

std::string to_json(const Summary& summary);

}  // namespace zhalo::ics_app
