/// The report for people.
#pragma once

#include <string>

#include "apps/knn/summary.hpp"

namespace zhalo::knn_app {

/// What was found in the snapshot, and what is going to be searched.
std::string plan_text(const Summary& summary, bool verbose);

/// What a dry run says besides.
std::string estimate_text(const Summary& summary);

/// What was found, how long it took, and where it lies. Of a summary that has `found`.
std::string result_text(const Summary& summary, bool verbose);

}  // namespace zhalo::knn_app
