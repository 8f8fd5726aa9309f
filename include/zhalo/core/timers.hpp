/// Wall-clock seconds: per named phase, and of waiting.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace zhalo {

// How long something was waited for, by those who look again and again.

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

// How long phases take.

/// One phase of a computation.
struct Phase {
  std::string name;
  double seconds = 0;
};

/// Collects the seconds of phases, in the order in which the phases first ended. If a phase runs
/// again, its seconds are added. A phase within a phase counts for itself, and not for the outer
/// one: so the phases add up to the time that passed. Not thread-safe.
class Timers {
 public:
  /// Calls `observer` with the name of each phase that begins from now on. It may report progress.
  /// It may also throw an exception, which passes through the computation and so stops it.
  void observe(std::function<void(const std::string& name)> observer) {
    observer_ = std::move(observer);
  }
  void begin(const std::string& name) const {
    if (observer_) observer_(name);
  }
  void add(const std::string& name, double seconds) {
    const auto found = std::find_if(phases_.begin(), phases_.end(),
                                    [&](const Phase& phase) { return phase.name == name; });
    if (found != phases_.end()) {
      found->seconds += seconds;
    } else {
      phases_.push_back({name, seconds});
    }
  }
  const std::vector<Phase>& phases() const { return phases_; }

 private:
  friend class ScopedTimer;

  std::vector<Phase> phases_;
  std::function<void(const std::string& name)> observer_;
  std::vector<double> inner_seconds_;  ///< of each phase under way: those of phases within it
};

/// Adds the time from its construction to its destruction to `timers`, which may be null. The time
/// of timers within it is not added.
class ScopedTimer {
 public:
  ScopedTimer(Timers* timers, std::string name)
      : timers_(timers), name_(std::move(name)), start_(std::chrono::steady_clock::now()) {
    if (timers_ == nullptr) return;
    timers_->begin(name_);
    timers_->inner_seconds_.push_back(0);
  }
  ~ScopedTimer() {
    if (timers_ == nullptr) return;
    const double passed = seconds();
    std::vector<double>& inner_seconds = timers_->inner_seconds_;
    if (inner_seconds.empty()) return;  // another Timers was assigned meanwhile
    timers_->add(name_, passed - inner_seconds.back());
    inner_seconds.pop_back();
    if (!inner_seconds.empty()) inner_seconds.back() += passed;
  }
  ScopedTimer(const ScopedTimer&) = delete;
  ScopedTimer& operator=(const ScopedTimer&) = delete;

  /// Since its construction, with those of timers within it.
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  Timers* timers_;
  std::string name_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace zhalo
