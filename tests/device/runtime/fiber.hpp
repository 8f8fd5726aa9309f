/// A text that runs on a stack of its own and can be left in the middle.
#pragma once

#include "tests/device/runtime/sanitizer.hpp"

namespace zhalo::emulated {

class Fiber;

/// Where a text was left: that of a thread of the host, or of a fiber.
struct SavedContext {
  void* registers = nullptr;  ///< on its stack, while it does not run
  Fiber* fiber = nullptr;     ///< none: a thread's own text
  sanitizer::Context context;
};

/// Leaves `here` and goes on where `there` was left; returns when somebody comes back. Both belong
/// to this thread of the host.
void switch_contexts(SavedContext& here, SavedContext& there);

/// A stack of its own, on which a function begins when somebody goes there. It must never end.
class Fiber {
 public:
  using Function = void (*)(void* argument);

  Fiber(Function function, void* argument);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  SavedContext& saved() { return saved_; }

 private:
  static void begin();

  Function function_;
  void* argument_;
  void* stack_;
  SavedContext saved_;
};

}  // namespace zhalo::emulated
