#include "apps/common/interrupt.hpp"

#include <array>
#include <csignal>

#include "zhalo/core/error.hpp"

namespace zhalo::app {
namespace {

// A signal handler can reach nothing else.
volatile std::sig_atomic_t interrupted = 0;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
bool too_late = false;                       // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

// Of users, closed terminals, and batch systems that announce the end of a job's time.
constexpr std::array caught{SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGUSR1, SIGUSR2};

void note(int) { interrupted = 1; }

bool is_ignored(int signal) {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

void take_file_limits_as_errors() { std::signal(SIGXFSZ, SIG_IGN); }

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = note;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int signal : caught) {
    if (signal == SIGHUP && is_ignored(signal)) continue;  // nohup
    sigaction(signal, &action, nullptr);
  }
}

void check_interrupted() {
  if (interrupted != 0 && !too_late) throw Interrupted("interrupted");
}

void release_interrupts() {
  for (const int signal : caught) std::signal(signal, SIG_DFL);
}

void finish_without_interrupts() { too_late = true; }

}  // namespace zhalo::app
