/// The report for machines.
#pragma once

#include <string>

#include "apps/fof/summary.hpp"

namespace zhalo::fof_app {

std::string to_json(const Summary& summary);

}  // namespace zhalo::fof_app
