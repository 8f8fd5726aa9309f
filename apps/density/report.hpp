/// What a run has to say, in text and in JSON.
#pragma once

#include "apps/density/run.hpp"
#include "apps/report/report.hpp"

namespace zhalo::density_app {

/// What was found in the snapshot, and what is going to be made of it. `verbose`: of the text.
app::Report plan_report(const Plan& plan, bool verbose);

/// What came out, how long it took, and where it lies.
app::Rows result_rows(const Plan& plan, const Result& result);

}  // namespace zhalo::density_app
