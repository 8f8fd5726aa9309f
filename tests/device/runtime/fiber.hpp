/// A text that runs on a stack of its own and can be left in the middle.
#pragma once

#include <cstddef>

#include "tests/device/runtime/sanitizer.hpp"

namespace zhalo::emulated {

/// Runs a function again and again, once per resume(). It belongs to the thread that made it.
class Fiber {
 public:
  using Function = void (*)(void* argument);

  Fiber(Function function, void* argument);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Runs until the function calls pause() or ends. True if it has ended.
  bool resume();
  /// Goes back to who called resume(). Only for the function.
  void pause();

 private:
  static void run();  ///< what is on the bottom of the stack
  void go_back();

  Function function_;
  void* argument_;
  void* stack_;
  void* here_ = nullptr;  ///< where its registers are while it does not run
  void* home_ = nullptr;  ///< where those of its caller are while it runs
  bool ended_ = false;
  sanitizer::Context context_;
  sanitizer::Context home_context_;
};

}  // namespace zhalo::emulated
