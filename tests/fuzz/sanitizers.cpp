#include "tests/fuzz/sanitizers.hpp"

#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <string_view>

// Defined by the sanitizers' runtime; null without it.
extern "C" {
__attribute__((weak)) int __lsan_do_recoverable_leak_check();
__attribute__((weak)) void __sanitizer_print_stack_trace();
__attribute__((weak)) std::size_t __sanitizer_get_current_allocated_bytes();
__attribute__((visibility("default"))) const char* __asan_default_options();
__attribute__((visibility("default"))) const char* __lsan_default_suppressions();
}

/// A mutant may claim any size: memory that is refused is an error to be handled. Names, long
/// stacks and much memory kept from use take time: a mutant that is tried again has the former two.
const char* __asan_default_options() {
  return "exitcode=86:symbolize=0:allocator_may_return_null=1:max_allocation_size_mb=256:"
         "handle_abort=1:leak_check_at_exit=0:malloc_context_size=2:quarantine_size_mb=16";
}

/// On its ways out HDF5 forgets much of what it has taken.
const char* __lsan_default_suppressions() { return "leak:libhdf5\n"; }

namespace zhalo::fuzz {

bool has_leaks() {
  return __lsan_do_recoverable_leak_check != nullptr && __lsan_do_recoverable_leak_check() != 0;
}

std::size_t bytes_in_use() {
  return __sanitizer_get_current_allocated_bytes == nullptr
             ? 0
             : __sanitizer_get_current_allocated_bytes();
}

namespace {

extern "C" void end_of_patience(int) {
  constexpr std::string_view words = "HANG: no answer within the limit\n";
  if (::write(STDERR_FILENO, words.data(), words.size()) < 0)
    ::_exit(static_cast<int>(Status::hang));
  if (__sanitizer_print_stack_trace != nullptr) __sanitizer_print_stack_trace();
  ::_exit(static_cast<int>(Status::hang));
}

}  // namespace

void limit_seconds(unsigned seconds) {
  struct sigaction action {};
  action.sa_handler = end_of_patience;
  ::sigaction(SIGALRM, &action, nullptr);
  ::sigaction(SIGPROF, &action, nullptr);
  const itimerval busy{{0, 0}, {static_cast<time_t>(seconds), 0}};
  ::setitimer(ITIMER_PROF, &busy, nullptr);
  constexpr unsigned patience = 12;  // other programs may have the cores
  ::alarm(patience * seconds);
}

std::string with_symbols(const char* options) {
  return (options == nullptr ? std::string() : std::string(options) + ":") +
         "symbolize=1:malloc_context_size=30:fast_unwind_on_malloc=0";
}

}  // namespace zhalo::fuzz
