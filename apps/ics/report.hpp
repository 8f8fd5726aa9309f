/// The report for people.
#pragma once

#include <string>

#include "apps/ics/summary.hpp"

namespace zhalo::ics_app {

/// What is going to be made.
std::string plan_text(const Summary& summary, bool verbose);

/// What a dry run says besides.
std::string estimate_text(const Summary& summary);

/// What was made, how long it took, and where it lies. Of a summary that has `made`.
std::string result_text(const Summary& summary);

}  // namespace zhalo::ics_app
