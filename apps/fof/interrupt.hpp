/// Stopping in order when the user asks: temporary files go, and nothing half-written stays.
#pragma once

#include <exception>

namespace zhalo::fof_app {

struct Interrupted : std::exception {
  const char* what() const noexcept override { return "interrupted"; }
};

/// From now on the first SIGINT or SIGTERM is only noted; the second ends the process at once.
void catch_interrupts();

/// Throws Interrupted if a signal was noted.
void check_interrupted();

}  // namespace zhalo::fof_app
