/// What a run has to say, in text and in JSON.
#pragma once

#include "apps/ics/run.hpp"
#include "apps/report/report.hpp"

namespace zhalo::ics_app {

/// What is going to be made. `verbose`: of the text.
app::Report plan_report(const Plan& plan, bool verbose);

/// What was made, how long it took, and where it lies.
app::Rows result_rows(const Plan& plan, const Result& result);

}  // namespace zhalo::ics_app
