/// How long something was waited for, by those who look again and again.
#pragma once

#include <algorithm>
#include <chrono>

namespace zhalo {

/// Adds up the time between looks. A process may be stopped in the meantime, by a batch system that
/// suspends its job or by Ctrl-Z, while clocks run on. What it waits for may be stopped, too. So
/// the time between two looks counts as one second at most.
class WaitedTime {
 public:
  WaitedTime() = default;

  /// Counts the time since the last look. Returns the seconds in all.
  double look() {
    const auto now = Clock::now();
    seconds_ += std::min(std::chrono::duration<double>(now - last_look_).count(), longest_step);
    last_look_ = now;
    return seconds_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr double longest_step = 1;

  Clock::time_point last_look_ = Clock::now();
  double seconds_ = 0;
};

}  // namespace zhalo
