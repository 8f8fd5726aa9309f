#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>

#include "tests/device/runtime/sanitizer.hpp"

namespace zhalo::emulated::sanitizer {

const bool finds_races = false;

void make_fiber(Context&) {}
void drop_fiber(Context&) {}
void note_thread(Context&) {}

void leave(Context& from, const Context& to) {
  __sanitizer_start_switch_fiber(&from.unused_frames, to.stack, to.stack_bytes);
}

void arrive(Context& here, Context& from) {
  __sanitizer_finish_switch_fiber(here.unused_frames, &from.stack, &from.stack_bytes);
}

void release(void*) {}
void acquire(void*) {}
void forbid(const void* memory, std::size_t bytes) { __asan_poison_memory_region(memory, bytes); }
void allow(const void* memory, std::size_t bytes) { __asan_unpoison_memory_region(memory, bytes); }
bool forget_accesses(void*, std::size_t) { return false; }
void print_stack() { __sanitizer_print_stack_trace(); }

}  // namespace zhalo::emulated::sanitizer
