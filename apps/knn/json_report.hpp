/// The report for machines.
#pragma once

#include <string>

#include "apps/knn/plan.hpp"

namespace zhalo::knn_app {

std::string to_json(const Plan& plan);

}  // namespace zhalo::knn_app
