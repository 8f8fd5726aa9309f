/// Wall-clock seconds per named phase.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "zhalo/core/types.hpp"

namespace zhalo {

/// One phase of a computation.
struct Phase {
  std::string name;
  double seconds = 0;
};

/// Collects phases in the order in which they first ran; a phase that runs again adds to its seconds. Not thread-safe.
class Timers {
 public:
  void add(const std::string& name, double seconds);
  const std::vector<Phase>& phases() const { return phases_; }
  double total() const;

 private:
  std::vector<Phase> phases_;
};

/// Adds the time from construction to destruction to `timers`, which may be null.
class ScopedTimer {
 public:
  ScopedTimer(Timers* timers, std::string name)
      : timers_(timers), name_(std::move(name)), start_(std::chrono::steady_clock::now()) {}
  ~ScopedTimer() {
    if (timers_ != nullptr) timers_->add(name_, seconds());
  }
  ScopedTimer(const ScopedTimer&) = delete;
  ScopedTimer& operator=(const ScopedTimer&) = delete;

  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  Timers* timers_;
  std::string name_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace zhalo
