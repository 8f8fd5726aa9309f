/// What a run has to say, in text and in JSON.
#pragma once

#include "apps/knn/run.hpp"
#include "apps/report/report.hpp"

namespace zhalo::knn_app {

/// What was found in the snapshot, and what is going to be searched. `verbose`: of the text.
app::Report plan_report(const Plan& plan, bool verbose);

/// What was found, how long it took, and where it lies.
app::Rows result_rows(const Plan& plan, const Result& result, bool verbose);

}  // namespace zhalo::knn_app
