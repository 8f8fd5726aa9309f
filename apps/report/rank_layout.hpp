/// The ranks, and where they compute.
#pragma once

#include <string>
#include <vector>

#include "apps/report/report.hpp"
#include "zhalo/comm/context.hpp"

namespace zhalo::app {

struct RankLayout {
  int num_ranks = 1;
  int num_machines = 1;
  std::string runs_on;  ///< each kind of place, with the number of ranks there
  /// Of messages: "host memory", "staged through host memory" or "GPU-aware MPI".
  std::string transport;
  std::vector<std::string> map;  ///< of each rank: machine and place
};

/// Collective. `wants_device`: where there is none, the reason is told.
RankLayout survey_ranks(const Context& context, bool wants_device);

/// Where the ranks are and how they send; each of them if `verbose`.
Row ranks_row(const RankLayout& ranks, bool verbose);

}  // namespace zhalo::app
