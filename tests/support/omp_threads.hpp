/// OMP_NUM_THREADS as tests want it.
#pragma once

#include <cstdlib>
#include <string>

namespace zhalo::testing {

/// OMP_NUM_THREADS for the length of a test; nullptr: not set.
class OmpThreads {
 public:
  explicit OmpThreads(const char* value) {
    if (const char* text = std::getenv(name_)) before_ = text;
    set(value);
  }
  ~OmpThreads() { set(before_.empty() ? nullptr : before_.c_str()); }
  OmpThreads(const OmpThreads&) = delete;
  OmpThreads& operator=(const OmpThreads&) = delete;

 private:
  void set(const char* value) const {
    value == nullptr ? ::unsetenv(name_) : ::setenv(name_, value, 1);
  }
  static constexpr const char* name_ = "OMP_NUM_THREADS";
  std::string before_;
};

}  // namespace zhalo::testing
