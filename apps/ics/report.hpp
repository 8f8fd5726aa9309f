/// The report for people.
#pragma once

#include <string>

#include "apps/ics/plan.hpp"

namespace zhalo::ics_app {

/// What is going to be made.
std::string plan_text(const Plan& plan, bool verbose);

/// What a dry run says besides.
std::string estimate_text(const Plan& plan);

/// What was made, how long it took, and where it lies. Of a summary that has `made`.
std::string result_text(const Plan& plan);

}  // namespace zhalo::ics_app
