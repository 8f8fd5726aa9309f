#include "apps/common/interrupt.hpp"

#include <csignal>

#include "zhalo/core/error.hpp"

namespace zhalo::app {
namespace {

// A signal handler can reach nothing else.
volatile std::sig_atomic_t interrupted = 0;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
bool too_late = false;                       // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

void note(int) { interrupted = 1; }

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = note;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

void check_interrupted() {
  if (interrupted != 0 && !too_late) throw Interrupted("interrupted");
}

void release_interrupts() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

void finish_without_interrupts() { too_late = true; }

}  // namespace zhalo::app
