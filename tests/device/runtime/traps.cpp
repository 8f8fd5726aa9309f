#include "tests/device/runtime/traps.hpp"

#include <ucontext.h>
#include <csignal>
#include <string>

#include "tests/device/runtime/memory.hpp"
#include "tests/device/runtime/report.hpp"

namespace zhalo::emulated {
namespace {

struct sigaction handler_before;

/// Whether the processor was writing: bit 1 of the error code of a page fault.
bool was_writing(const void* context) {
  return (static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & 2) != 0;
}

void on_trap(int, siginfo_t* info, void* context) {
  const int device = device_of(info->si_addr);
  if (device < 0) {  // somebody else's fault: it happens again, and is theirs
    sigaction(SIGSEGV, &handler_before, nullptr);
    return;
  }
  if (memory_of(device).let_in(info->si_addr)) return;
  const std::string access = was_writing(context) ? "writes" : "reads";
  const std::string where = memory_of(device).describe(info->si_addr);
  if (describe_operation().empty()) stop("the host " + access + " " + where);
  stop(access + " " + where);
}

}  // namespace

void watch_for_traps() {
  struct sigaction action {};
  action.sa_sigaction = on_trap;
  action.sa_flags = SA_SIGINFO;
  struct sigaction before {};
  sigaction(SIGSEGV, &action, &before);
  if (before.sa_sigaction != on_trap) handler_before = before;
}

}  // namespace zhalo::emulated
