/// What sanitizers must be told about fibers and device memory. One of sanitizer_address.cpp,
/// sanitizer_thread.cpp and sanitizer_none.cpp is compiled.
#pragma once

#include <cstddef>

namespace zhalo::emulated::sanitizer {

/// Whether one looks for races.
extern const bool finds_races;

/// Where the text of a thread of the host, or of a fiber, runs.
struct Context {
  void* fiber = nullptr;          ///< ThreadSanitizer's
  const void* stack = nullptr;    ///< AddressSanitizer's: its lowest address,
  std::size_t stack_bytes = 0;    ///< and size;
  void* unused_frames = nullptr;  ///< frames that were left, for stack-use-after-return
};

void make_fiber(Context& context);
void drop_fiber(Context& context);
/// Before the first switch from a thread of the host to a fiber.
void note_thread(Context& context);

/// Around a switch of stacks: `leave` before, on the old one; `arrive` behind, on the new one. The
/// switch orders no memory between them.
void leave(Context& from, const Context& to);
/// `from` is where the switch came from.
void arrive(Context& here, Context& from);

/// What was written before a release is seen behind an acquire of the same address.
void release(void* order);
void acquire(void* order);

/// Memory that nobody may touch, and that all may again.
void forbid(const void* memory, std::size_t bytes);
void allow(const void* memory, std::size_t bytes);

/// Forgets who touched whole pages; their bytes are lost. False if there is nothing to forget.
bool forget_accesses(void* pages, std::size_t bytes);

/// The stack of the caller, on standard error.
void print_stack();

}  // namespace zhalo::emulated::sanitizer
