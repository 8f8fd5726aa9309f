/// What every collective computation needs besides its data.
#pragma once

#include "zhalo/comm/communicator.hpp"
#include "zhalo/core/exec.hpp"
#include "zhalo/core/timers.hpp"

namespace zhalo {

/// Ranks, the place to compute, and (optionally) where to note the seconds of each phase. Make one
/// and keep it: repeated calls with the same context reuse its memory. One call at a time per
/// context.
struct Context {
  Communicator comm;
  Exec exec = host_exec();
  Timers* timers = nullptr;
};

/// Adds the seconds of a phase to the context's timers. A device works behind the host's back: with
/// timers on, the end of a phase waits for it.
class PhaseTimer {
 public:
  PhaseTimer(const Context& context, const char* name)
      : context_(context), timer_(context.timers, name) {}
  ~PhaseTimer() {
    if (context_.timers != nullptr) wait(context_.exec);
  }
  PhaseTimer(const PhaseTimer&) = delete;
  PhaseTimer& operator=(const PhaseTimer&) = delete;

 private:
  const Context& context_;
  ScopedTimer timer_;
};

}  // namespace zhalo
