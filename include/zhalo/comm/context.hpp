/// What every collective computation needs besides its data.
#pragma once

#include "zhalo/comm/communicator.hpp"
#include "zhalo/core/exec.hpp"
#include "zhalo/core/timers.hpp"

namespace zhalo {

/// Ranks, the place to compute, and (optionally) where to note the seconds of each phase. Make one and keep it: repeated calls with
/// the same context reuse its memory. One call at a time per context.
struct Context {
  Communicator comm;
  Exec exec = host_exec();
  Timers* timers = nullptr;
};

}  // namespace zhalo
