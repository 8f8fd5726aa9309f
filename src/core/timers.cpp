#include "zhalo/core/timers.hpp"

#include <algorithm>

namespace zhalo {

void Timers::add(const std::string& name, double seconds) {
  const auto found = std::find_if(phases_.begin(), phases_.end(),
                                  [&](const Phase& phase) { return phase.name == name; });
  if (found != phases_.end()) {
    found->seconds += seconds;
  } else {
    phases_.push_back({name, seconds});
  }
}

double Timers::total() const {
  double seconds = 0;
  for (const Phase& phase : phases_) seconds += phase.seconds;
  return seconds;
}

}  // namespace zhalo
