/// The ranks, and where they compute.
#pragma once

#include <string>
#include <vector>

#include "zhalo/comm/context.hpp"

namespace zhalo::app {

struct RankLayout {
  int num_ranks = 1;
  int num_machines = 1;
  std::string runs_on;  ///< each kind of place, with the number of ranks there
  std::string
      transport;  ///< of messages: "host memory", "staged through host memory" or "GPU-aware MPI"
  std::vector<std::string> map;  ///< of each rank: machine and place
};

/// Collective. `wants_device`: where there is none, the reason is told.
RankLayout survey_ranks(const Context& context, bool wants_device);

}  // namespace zhalo::app
