/// What a run has to say, in text and in JSON.
#pragma once

#include <string>

#include "apps/ics/run.hpp"

namespace zhalo::ics_app {

/// What is going to be made.
std::string plan_text(const Plan& plan, bool verbose);

/// What a dry run says besides.
std::string estimate_text(const Plan& plan);

/// What was made, how long it took, and where it lies.
std::string result_text(const Plan& plan, const Result& result);

/// All of it for machines; `result` is nullptr after a dry run.
std::string to_json(const Plan& plan, const Result* result);

}  // namespace zhalo::ics_app
