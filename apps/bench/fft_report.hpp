/// What zhalo_fft_bench says.
#pragma once

#include <string>

#include "apps/report/json.hpp"
#include "fft_case.hpp"

namespace zhalo::bench {

/// What is the same in all cases, and the names of the columns.
std::string table_head(const Context& context, const FftBenchOptions& options);
std::string table_row(const FftCaseResult& result);

app::Json json_of_run(const Context& context, const FftBenchOptions& options);
app::Json json_of(const FftCaseResult& result);

}  // namespace zhalo::bench
