/// What the emulated devices find wrong ends the process at once, as a sanitizer does: with a
/// message that names the kernel, on standard error, and a status of its own.
#pragma once

#include <string>
#include <string_view>

namespace zhalo::emulated {

inline constexpr int stop_status = 99;

/// Prints where the work that runs here was (see OperationScope), what is wrong, and the stack.
[[noreturn]] void stop(const std::string& what);

/// Says what this thread of the host does for a device while the object lives, such as
/// "kernel (long, Fill)". The name must live on.
class OperationScope {
 public:
  explicit OperationScope(std::string_view name);
  ~OperationScope();
  OperationScope(const OperationScope&) = delete;
  OperationScope& operator=(const OperationScope&) = delete;

 private:
  std::string_view before_;
};

/// The name, with block and thread where a kernel runs; empty if nothing runs for a device.
std::string describe_operation();

}  // namespace zhalo::emulated
