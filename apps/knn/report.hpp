/// The report for people.
#pragma once

#include <string>

#include "apps/knn/plan.hpp"

namespace zhalo::knn_app {

/// What was found in the snapshot, and what is going to be searched.
std::string plan_text(const Plan& plan, bool verbose);

/// What a dry run says besides.
std::string estimate_text(const Plan& plan);

/// What was found, how long it took, and where it lies. Of a summary that has `found`.
std::string result_text(const Plan& plan, bool verbose);

}  // namespace zhalo::knn_app
