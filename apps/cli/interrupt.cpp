#include "apps/cli/interrupt.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <ctime>

#include "zhalo/core/error.hpp"

namespace zhalo::app {
namespace {

// A signal handler can reach nothing else.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
volatile std::sig_atomic_t interrupted = 0;
bool too_late = false;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

// Of users, closed terminals, and batch systems that announce the end of a job's time.
constexpr std::array caught{SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGUSR1, SIGUSR2};

// By number of the signal: when it came first, in nanoseconds; 0: never.
std::array<std::atomic<long long>, 65>
    first_times{};  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
static_assert(std::atomic<long long>::is_always_lock_free);

long long nanoseconds_now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

/// Slurm sends SIGTERM twice within a moment when the time of a job is over, and launchers hand a
/// signal on to processes that have it from the terminal already: that is still the first.
void note(int signal) {
  constexpr long long moment = 2'000'000'000;
  const long long now = nanoseconds_now();
  long long first = 0;
  if (!first_times.at(static_cast<std::size_t>(signal)).compare_exchange_strong(first, now) &&
      now - first > moment) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
  interrupted = 1;
}

bool is_ignored(int signal) {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

void take_file_limits_as_errors() { std::signal(SIGXFSZ, SIG_IGN); }

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = note;
  action.sa_flags = SA_RESTART;
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
