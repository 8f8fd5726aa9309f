#include "tests/device/runtime/report.hpp"

#include <unistd.h>

#include <cstdio>

#include "tests/device/runtime/sanitizer.hpp"
#include "tests/device/runtime/worker.hpp"

namespace zhalo::emulated {
namespace {

constinit thread_local std::string_view running;

}  // namespace

OperationScope::OperationScope(std::string_view name) : before_(running) { running = name; }
OperationScope::~OperationScope() { running = before_; }

std::string describe_operation() {
  if (running.empty()) return "";
  return std::string(running) + describe_lane();
}

void stop(const std::string& what) {
  const std::string where = describe_operation();
  std::fflush(stdout);
  std::fprintf(stderr, "zhalo emulated device: %s%s%s\n", where.c_str(), where.empty() ? "" : ": ",
               what.c_str());
  sanitizer::print_stack();
  std::fflush(stderr);
  _exit(stop_status);
}

}  // namespace zhalo::emulated
