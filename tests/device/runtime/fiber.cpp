#include "tests/device/runtime/fiber.hpp"

#include <sys/mman.h>

#include <cstdint>

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

constinit thread_local Fiber* entering = nullptr;

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

Fiber::Fiber(Function function, void* argument)
    : function_(function), argument_(argument), stack_(make_stack()) {
  // As if run() had been called from nowhere and had left at once.
  auto** top = reinterpret_cast<void**>(static_cast<std::byte*>(stack_) + stack_bytes);
  *--top = nullptr;
  *--top = reinterpret_cast<void*>(&Fiber::run);
  for (int i = 0; i < kept_registers; ++i) *--top = nullptr;
  here_ = top;
  context_.stack = stack_;
  context_.stack_bytes = stack_bytes;
  sanitizer::make_fiber(context_);
}

Fiber::~Fiber() {
  sanitizer::drop_fiber(context_);
  sanitizer::allow(stack_, stack_bytes);
  munmap(static_cast<std::byte*>(stack_) - page, stack_bytes + page);
}

bool Fiber::resume() {
  entering = this;
  ended_ = false;
  sanitizer::note_thread(home_context_);
  sanitizer::leave(home_context_, context_);
  zhalo_emulated_switch(&home_, here_);
  sanitizer::arrive(home_context_, context_);
  return ended_;
}

void Fiber::go_back() {
  sanitizer::leave(context_, home_context_);
  zhalo_emulated_switch(&here_, home_);
  sanitizer::arrive(context_, home_context_);
}

void Fiber::pause() { go_back(); }

void Fiber::run() {
  Fiber& self = *entering;
  sanitizer::arrive(self.context_, self.home_context_);
  while (true) {
    self.function_(self.argument_);
    self.ended_ = true;
    self.go_back();
  }
}

}  // namespace zhalo::emulated
