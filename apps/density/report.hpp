/// The report for people.
#pragma once

#include <string>

#include "apps/density/plan.hpp"

namespace zhalo::density_app {

/// What was found in the snapshot, and what is going to be made of it.
std::string plan_text(const Plan& plan, bool verbose);

/// What a dry run says besides.
std::string estimate_text(const Plan& plan);

/// What came out, how long it took, and where it lies. Of a summary that has `found`.
std::string result_text(const Plan& plan);

}  // namespace zhalo::density_app
