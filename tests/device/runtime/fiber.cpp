#include "tests/device/runtime/fiber.hpp"

#include <sys/mman.h>

#include "tests/device/runtime/report.hpp"

// Puts the registers that a function must keep onto the stack, and takes up those of another one.
extern "C" void zhalo_emulated_switch(void** from, void* to);
asm(R"(
.text
.globl zhalo_emulated_switch
.type zhalo_emulated_switch, @function
zhalo_emulated_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size zhalo_emulated_switch, .-zhalo_emulated_switch
)");

namespace zhalo::emulated {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t stack_bytes = std::size_t{256} << 10;
constexpr int kept_registers = 6;

constinit thread_local SavedContext* left = nullptr;  // by the switch that is under way
constinit thread_local SavedContext* entered = nullptr;

/// Behind a page that nobody can touch: a stack that overflows does not write into another one.
void* make_stack() {
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* memory = mmap(nullptr, stack_bytes + page, PROT_NONE, flags, -1, 0);
  if (memory == MAP_FAILED) stop("no memory for the stack of a fiber");
  void* stack = static_cast<std::byte*>(memory) + page;
  if (mprotect(stack, stack_bytes, PROT_READ | PROT_WRITE) != 0) stop("no stack for a fiber");
  return stack;
}

}  // namespace

void switch_contexts(SavedContext& here, SavedContext& there) {
  left = &here;
  entered = &there;
  sanitizer::leave(here.context, there.context);
  zhalo_emulated_switch(&here.registers, there.registers);
  sanitizer::arrive(here.context, left->context);
}

Fiber::Fiber(Function function, void* argument)
    : function_(function), argument_(argument), stack_(make_stack()) {
  // As if begin() had been called from nowhere and had left at once.
  auto** top = reinterpret_cast<void**>(static_cast<std::byte*>(stack_) + stack_bytes);
  *--top = nullptr;
  *--top = reinterpret_cast<void*>(&Fiber::begin);
  for (int i = 0; i < kept_registers; ++i) *--top = nullptr;
  saved_.registers = top;
  saved_.fiber = this;
  saved_.context.stack = stack_;
  saved_.context.stack_bytes = stack_bytes;
  sanitizer::make_fiber(saved_.context);
}

Fiber::~Fiber() {
  sanitizer::drop_fiber(saved_.context);
  sanitizer::allow(stack_, stack_bytes);
  munmap(static_cast<std::byte*>(stack_) - page, stack_bytes + page);
}

void Fiber::begin() {
  Fiber& self = *entered->fiber;
  sanitizer::arrive(self.saved_.context, left->context);
  self.function_(self.argument_);
  stop("a fiber has ended");
}

}  // namespace zhalo::emulated
