#include "tests/device/runtime/worker.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <numeric>

#include "tests/device/include/emulated_lane.hpp"
#include "tests/device/runtime/memory.hpp"
#include "tests/device/runtime/profile.hpp"
#include "tests/device/runtime/report.hpp"
#include "tests/device/runtime/sanitizer.hpp"
#include "tests/device/runtime/settings.hpp"

constinit thread_local emulated_index threadIdx{};
constinit thread_local emulated_index blockIdx{};
constinit thread_local emulated_index blockDim{};
constinit thread_local emulated_index gridDim{};

namespace zhalo::kernels {

// What kernels/cuda/launch.cuh declares: a block runs on one thread of the host, so its memory is
// that thread's. Whole pages, see sanitizer::forget_accesses.
alignas(4096) __thread std::byte shared_memory[emulated::max_shared_bytes];

}  // namespace zhalo::kernels

namespace zhalo::emulated {
namespace {

using kernels::shared_memory;

constinit thread_local Worker* current = nullptr;

// What lanes do is seen by nobody else before the whole grid is done: not by their worker either,
// which would pass it on to other workers with the locks that they share.
constinit char end_of_lanes = 0;

/// Where block number `turn` of so many comes in the order of the settings.
unsigned block_of_turn(unsigned turn, unsigned num_blocks) {
  switch (settings().order) {
    case Order::forward: return turn;
    case Order::reversed: return num_blocks - 1 - turn;
    default: break;
  }
  // A walk by a step without a common divisor comes to every block.
  std::uint64_t step = settings().seed % num_blocks + num_blocks / 2;
  while (std::gcd(step, std::uint64_t{num_blocks}) != 1) ++step;
  return static_cast<unsigned>((turn * step + settings().seed % num_blocks) % num_blocks);
}

const char* name_of(Event collective) {
  switch (collective) {
    case Event::ballot: return "__ballot_sync";
    case Event::any: return "__any_sync";
    case Event::shuffle: return "__shfl_sync or __shfl_xor_sync";
    default: return "__syncwarp";
  }
}

}  // namespace

Worker::Worker(std::uint64_t seed) : random_(static_cast<std::minstd_rand::result_type>(seed)) {}

// ---------------------------------------------------------------- blocks

void Worker::run_blocks(const Kernel& kernel, const std::function<unsigned()>& next) {
  const OperationScope scope(kernel.name);
  current = this;
  kernel_ = &kernel;
  sanitizer::note_thread(home_.context);
  gridDim.x = kernel.grid.num_blocks;
  blockDim.x = kernel.grid.threads_per_block;
  for (unsigned turn = next(); turn < kernel.grid.num_blocks; turn = next())
    run_block(block_of_turn(turn, kernel.grid.num_blocks));
}

void Worker::run_block(unsigned block) {
  blockIdx.x = block;
  prepare_shared_memory();
  // Lanes see what was done before the kernel, and nothing of other blocks.
  sanitizer::release(&begin_);
  const unsigned num_threads = kernel_->grid.threads_per_block;
  for (unsigned first = 0; first < num_threads; first += warp_size) run_warp(first);
  check_shared_memory();
}

/// Nothing of the block before is left in it.
void Worker::prepare_shared_memory() {
  sanitizer::allow(shared_memory, sizeof shared_memory);
  const bool is_fresh = sanitizer::forget_accesses(shared_memory, sizeof shared_memory);
  const std::size_t used = kernel_->grid.shared_bytes;
  // Without shared memory there is nothing that could have been touched.
  if (used > 0 || is_fresh) std::memset(shared_memory, fresh_byte, sizeof shared_memory);
  sanitizer::forbid(shared_memory + used, sizeof shared_memory - used);
}

void Worker::check_shared_memory() const {
  sanitizer::allow(shared_memory, sizeof shared_memory);
  const std::size_t used = kernel_->grid.shared_bytes;
  if (used == 0) return;
  const auto is_fresh = [](std::byte value) { return value == std::byte{fresh_byte}; };
  if (!std::all_of(shared_memory + used, std::end(shared_memory), is_fresh))
    stop("something was written behind the end of the " + std::to_string(used) +
         " bytes of shared memory");
}

// ---------------------------------------------------------------- warps

void Worker::run_warp(unsigned first_thread) {
  first_thread_ = first_thread;
  ++warp_;
  num_lanes_ = std::min(warp_size, kernel_->grid.threads_per_block - first_thread);
  for (unsigned i = 0; i < num_lanes_; ++i) {
    if (lanes_[i].fiber == nullptr) lanes_[i].fiber = std::make_unique<Fiber>(run_lanes, this);
    lanes_[i].ended = false;
    turns_[i] = settings().order == Order::reversed ? num_lanes_ - 1 - i : i;
  }
  while (true) {
    run_turns();
    profile::end_step(kernel_->name);
    check_meeting();
    if (lanes_[0].ended) return;
    finish_meeting();
  }
}

/// Each lane runs until its next collective, or to its end, and hands over to the next one.
void Worker::run_turns() {
  if (settings().order == Order::random)
    std::shuffle(turns_.begin(), turns_.begin() + num_lanes_, random_);
  turn_ = 0;
  choose_lane();
  in_lane_ = true;
  switch_contexts(home_, lanes_[turns_[0]].fiber->saved());
  in_lane_ = false;
}

void Worker::choose_lane() { threadIdx.x = first_thread_ + turns_[turn_]; }

void Worker::next_turn(Lane& lane) {
  ++turn_;
  if (turn_ == num_lanes_) return switch_contexts(lane.fiber->saved(), home_);
  choose_lane();
  switch_contexts(lane.fiber->saved(), lanes_[turns_[turn_]].fiber->saved());
}

void Worker::run_lanes(void* worker) {
  auto& self = *static_cast<Worker*>(worker);
  while (true) {
    Lane& lane = self.lanes_[self.turns_[self.turn_]];
    self.run_lane();
    lane.ended = true;
    self.next_turn(lane);
  }
}

void Worker::run_lane() {
  sanitizer::acquire(&begin_);
  try {
    kernel_->run();
  } catch (const std::exception& error) {
    stop(error.what());
  }
  sanitizer::release(&end_of_lanes);
}

// ---------------------------------------------------------------- collectives

/// What the lanes bring and get: ballot a bit, and the bits of all; any bits, and those that any
/// lane brings, or their sum (`argument` says of which function, so that it meets its like only);
/// shuffle a value, and
/// that of the lane whose number differs in the bits of `argument`, or from warp_size on that of
/// the lane whose number is so much less than `argument`; sync nothing.
std::uint64_t Worker::meet(Event collective, std::uint64_t value, unsigned argument) {
  Lane& lane = lanes_[turns_[turn_]];
  lane.collective = collective;
  lane.value = value;
  lane.argument = argument;
  next_turn(lane);
  return lane.result;
}

void Worker::sync() {
  std::uint64_t* const address = &syncs_[warp_ % syncs_.size()];
  sanitizer::release(address);
  meet(Event::sync, 0, 0);
  sanitizer::acquire(address);
}

/// All lanes have ended, or all are at one collective.
void Worker::check_meeting() const {
  const Lane& first = lanes_[0];
  const auto is_there = [&](const Lane& lane) {
    if (lane.ended || first.ended) return lane.ended == first.ended;
    return lane.collective == first.collective && lane.argument == first.argument;
  };
  if (std::all_of(lanes_.begin(), lanes_.begin() + num_lanes_, is_there)) return;
  std::string found;
  for (unsigned i = 0; i < num_lanes_; ++i) {
    const char* address = lanes_[i].ended ? "the end" : name_of(lanes_[i].collective);
    found += " " + std::to_string(i) + ":" + address;
  }
  stop("the lanes of a warp are not all at one collective, block " + std::to_string(blockIdx.x) +
       ", threads " + std::to_string(first_thread_) + " and on:" + found);
}

void Worker::finish_meeting() {
  const Event collective = lanes_[0].collective;
  count(collective);
  const bool adds = collective == Event::any && lanes_[0].argument == sum_of_all;
  std::uint64_t bits = 0;
  for (unsigned i = 0; i < num_lanes_; ++i) {
    const std::uint64_t value = lanes_[i].value;
    bits = adds ? bits + value : bits | (collective == Event::any ? value : (value & 1) << i);
  }
  for (unsigned i = 0; i < num_lanes_; ++i) {
    const unsigned argument = lanes_[i].argument;
    const unsigned other = argument < warp_size ? i ^ argument : argument - warp_size;
    const bool moves = collective == Event::shuffle && other < num_lanes_;
    lanes_[i].result = collective == Event::shuffle ? lanes_[moves ? other : i].value : bits;
  }
}

void see_what_lanes_did() { sanitizer::acquire(&end_of_lanes); }

// ---------------------------------------------------------------- where

Worker& this_worker() {
  if (!runs_lane()) stop("a warp's function was called by the host");
  return *current;
}

std::string Worker::describe_lane() const {
  return ", block " + std::to_string(blockIdx.x) + ", thread " + std::to_string(threadIdx.x);
}

bool runs_lane() { return current != nullptr && current->is_in_lane(); }

std::string describe_lane() { return runs_lane() ? current->describe_lane() : ""; }

}  // namespace zhalo::emulated
