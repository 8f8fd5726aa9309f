#include <sanitizer/common_interface_defs.h>
#include <sanitizer/tsan_interface.h>
#include <sanitizer/tsan_interface_atomic.h>
#include <sys/mman.h>

#include "tests/device/runtime/sanitizer.hpp"

namespace zhalo::emulated::sanitizer {

const bool finds_races = true;

void make_fiber(Context& context) { context.fiber = __tsan_create_fiber(0); }
void drop_fiber(Context& context) { __tsan_destroy_fiber(context.fiber); }
void note_thread(Context& context) { context.fiber = __tsan_get_current_fiber(); }

void leave(Context&, const Context& to) {
  __tsan_switch_to_fiber(to.fiber, __tsan_switch_to_fiber_no_sync);
}

void arrive(Context&, Context&) {}
void release(void* order) { __tsan_release(order); }
void acquire(void* order) { __tsan_acquire(order); }
void forbid(const void*, std::size_t) {}
void allow(const void*, std::size_t) {}

bool forget_accesses(void* pages, std::size_t bytes) {
  return mmap(pages, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
              0) == pages;
}

void print_stack() { __sanitizer_print_stack_trace(); }

}  // namespace zhalo::emulated::sanitizer

// Compilers that are told to distinguish volatile accesses call these. On a device a volatile
// access is a relaxed atomic one (kernels/common/arithmetic.hpp), so that is what the sanitizer is
// told. Adding nothing counts as a store: which value comes is not known yet.
extern "C" {
void __tsan_volatile_read1(void* address) {
  __tsan_atomic8_load(static_cast<__tsan_atomic8*>(address), __tsan_memory_order_relaxed);
}
void __tsan_volatile_write1(void* address) {
  __tsan_atomic8_fetch_add(static_cast<__tsan_atomic8*>(address), 0, __tsan_memory_order_relaxed);
}
void __tsan_volatile_read2(void* address) {
  __tsan_atomic16_load(static_cast<__tsan_atomic16*>(address), __tsan_memory_order_relaxed);
}
void __tsan_volatile_write2(void* address) {
  __tsan_atomic16_fetch_add(static_cast<__tsan_atomic16*>(address), 0, __tsan_memory_order_relaxed);
}
void __tsan_volatile_read4(void* address) {
  __tsan_atomic32_load(static_cast<__tsan_atomic32*>(address), __tsan_memory_order_relaxed);
}
void __tsan_volatile_write4(void* address) {
  __tsan_atomic32_fetch_add(static_cast<__tsan_atomic32*>(address), 0, __tsan_memory_order_relaxed);
}
void __tsan_volatile_read8(void* address) {
  __tsan_atomic64_load(static_cast<__tsan_atomic64*>(address), __tsan_memory_order_relaxed);
}
void __tsan_volatile_write8(void* address) {
  __tsan_atomic64_fetch_add(static_cast<__tsan_atomic64*>(address), 0, __tsan_memory_order_relaxed);
}
}
