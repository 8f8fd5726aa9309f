/// Runs the blocks of a grid, one after the other: each thread of the device is a fiber, 32 of them
/// are a warp, whose lanes take turns at every collective.
///
/// All lanes of a warp must reach the same collectives, as the house's kernels promise. Warps of a
/// block run one after the other: no kernel has a barrier for a whole block.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>

#include "tests/device/runtime/calls.hpp"
#include "tests/device/runtime/fiber.hpp"

namespace zhalo::emulated {

inline constexpr unsigned warp_size = 32;
inline constexpr std::size_t max_shared_bytes = 48 << 10;  ///< of a block

struct Grid {
  unsigned num_blocks = 1;
  unsigned threads_per_block = 1;
  std::size_t shared_bytes = 0;
};

/// What each thread of a grid runs.
struct Kernel {
  std::string name;
  Grid grid;
  std::function<void()> run;
};

class Worker {
 public:
  explicit Worker(std::uint64_t seed);

  /// Runs the blocks whose turn `next` says it is, in the order of the settings, while there are
  /// any.
  void run_blocks(const Kernel& kernel, const std::function<unsigned()>& next);

  // Arguments of meetings that take something of all lanes.
  static constexpr unsigned bits_of_all = 1;
  static constexpr unsigned sum_of_all = 2;

  /// For the lane that runs: waits until all lanes of its warp are there; see worker.cpp.
  std::uint64_t meet(Event collective, std::uint64_t value, unsigned argument);
  void sync();
  bool is_in_lane() const { return in_lane_; }
  std::string describe_lane() const;

 private:
  struct Lane {
    std::unique_ptr<Fiber> fiber;
    bool ended = false;
    Event collective = Event::sync;  ///< that it waits in
    std::uint64_t value = 0;         ///< that it brought
    unsigned argument = 0;
    std::uint64_t result = 0;
  };

  static void run_lanes(void* worker);
  void run_lane();
  void run_block(unsigned block);
  void run_warp(unsigned first_thread);
  void run_turns();
  void choose_lane();
  void next_turn(Lane& lane);
  void check_meeting() const;
  void finish_meeting();
  void prepare_shared_memory();
  void check_shared_memory() const;

  const Kernel* kernel_ = nullptr;
  unsigned first_thread_ = 0;  ///< of the warp
  unsigned num_lanes_ = 0;
  unsigned turn_ = 0;  ///< lane turns_[turn_] runs
  bool in_lane_ = false;
  SavedContext home_;  ///< where the lanes were called
  std::array<Lane, warp_size> lanes_;
  std::array<unsigned, warp_size> turns_{};
  std::minstd_rand random_;
  // Addresses for sanitizer::release and acquire.
  char begin_ = 0;
  std::array<std::uint64_t, 256> syncs_{};  ///< of warps, by turns: they do not wait for each other
  std::size_t warp_ = 0;
};

/// The worker of this thread of the host.
Worker& this_worker();
/// Whether this thread of the host runs one of a device.
bool runs_lane();
/// ", block 3, thread 17" inside a kernel; else empty.
std::string describe_lane();

/// Orders the caller behind all lanes of the grids that are done, for a sanitizer.
void see_what_lanes_did();

/// Runs a grid on several threads of the host; returns when it is done.
void run_grid(const Kernel& kernel);

}  // namespace zhalo::emulated
