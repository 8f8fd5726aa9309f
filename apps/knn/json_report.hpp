/// The report for machines.
#pragma once

#include <string>

#include "apps/knn/summary.hpp"

namespace zhalo::knn_app {

std::string to_json(const Summary& summary);

}  // namespace zhalo::knn_app
