// Sharing out the blocks of a grid over threads of the host. Usually whoever is free takes the next
// one. Where a sanitizer looks for races, who runs which block is fixed, so that they are found
// again; blocks that one thread runs are not ordered for it either.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "tests/device/runtime/sanitizer.hpp"
#include "tests/device/runtime/settings.hpp"
#include "tests/device/runtime/worker.hpp"

namespace zhalo::emulated {
namespace {

/// Threads that wait for grids; the caller of run() is one more worker.
class Team {
 public:
  explicit Team(unsigned num_workers) : num_helpers_(num_workers - 1) {
    for (unsigned helper = 1; helper <= num_helpers_; ++helper)
      std::thread([this, helper] { help(helper); }).detach();  // they end with the process
  }

  void run(const Kernel& kernel) {
    thread_local Worker worker(settings().seed);
    if (kernel.grid.num_blocks == 1 || num_helpers_ == 0)
      return worker.run_blocks(kernel, [turn = 0U]() mutable { return turn++; });
    start(kernel);
    run_part(worker, kernel, 0);
    std::unique_lock lock(mutex_);
    if (sanitizer::finds_races) changed_.wait(lock, [&] { return num_joined_ == num_helpers_; });
    kernel_ = nullptr;  // who comes now comes too late
    changed_.wait(lock, [&] { return num_at_work_ == 0; });
  }

 private:
  void start(const Kernel& kernel) {
    {
      const std::lock_guard lock(mutex_);
      kernel_ = &kernel;
      num_joined_ = 0;
      next_ = 0;
      ++number_;
    }
    started_.notify_all();
  }

  void run_part(Worker& worker, const Kernel& kernel, unsigned number) {
    const unsigned step = num_helpers_ + 1;
    if (sanitizer::finds_races) {
      worker.run_blocks(kernel, [turn = number - step, step]() mutable { return turn += step; });
    } else {
      worker.run_blocks(kernel, [&] { return next_.fetch_add(1, std::memory_order_relaxed); });
    }
  }

  void help(unsigned number) {
    Worker worker(settings().seed + number);
    std::uint64_t seen = 0;
    std::unique_lock lock(mutex_);
    while (true) {
      started_.wait(lock, [&] { return number_ != seen && kernel_ != nullptr; });
      seen = number_;
      const Kernel& kernel = *kernel_;
      ++num_joined_;
      ++num_at_work_;
      changed_.notify_all();
      lock.unlock();
      run_part(worker, kernel, number);
      lock.lock();
      --num_at_work_;
      changed_.notify_all();
    }
  }

  unsigned num_helpers_;
  std::mutex mutex_;
  std::condition_variable started_;
  std::condition_variable changed_;  ///< who has joined, and who is at work
  const Kernel* kernel_ = nullptr;
  std::uint64_t number_ = 0;  ///< of grids so far
  unsigned num_joined_ = 0;   ///< to this one
  unsigned num_at_work_ = 0;
  std::atomic<unsigned> next_ = 0;
};

}  // namespace

void run_grid(const Kernel& kernel) {
  static auto& team = *new Team(static_cast<unsigned>(settings().num_workers));
  team.run(kernel);
  see_what_lanes_did();
}

}  // namespace zhalo::emulated
