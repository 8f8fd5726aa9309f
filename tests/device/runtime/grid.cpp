// Sharing out the blocks of a grid. Who runs which block is fixed, so that a race between blocks is
// found again; blocks that one thread runs are not ordered for ThreadSanitizer either.
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/device/runtime/settings.hpp"
#include "tests/device/runtime/worker.hpp"

namespace zhalo::emulated {
namespace {

/// Threads that wait for grids; the caller of run() is one more worker.
class Team {
 public:
  explicit Team(int num_workers) : step_(static_cast<unsigned>(num_workers)) {
    for (unsigned first = 1; first < step_; ++first)
      std::thread([this, first] { work(first); }).detach();  // they end with the process
  }

  void run(const Kernel& kernel) {
    thread_local Worker worker(settings().seed);
    if (kernel.grid.num_blocks == 1) return worker.run_blocks(kernel, 0, 1);
    {
      const std::lock_guard lock(mutex_);
      kernel_ = &kernel;
      at_work_ = step_ - 1;
      ++number_;
    }
    started_.notify_all();
    worker.run_blocks(kernel, 0, step_);
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return at_work_ == 0; });
  }

 private:
  void work(unsigned first) {
    Worker worker(settings().seed + first);
    for (std::uint64_t done = 0;; ++done) {
      const Kernel* kernel = nullptr;
      {
        std::unique_lock lock(mutex_);
        started_.wait(lock, [&] { return number_ > done; });
        kernel = kernel_;
      }
      worker.run_blocks(*kernel, first, step_);
      const std::lock_guard lock(mutex_);
      if (--at_work_ == 0) done_.notify_one();
    }
  }

  unsigned step_;
  std::mutex mutex_;
  std::condition_variable started_;
  std::condition_variable done_;
  const Kernel* kernel_ = nullptr;
  std::uint64_t number_ = 0;  ///< of grids so far
  unsigned at_work_ = 0;
};

}  // namespace

void run_grid(const Kernel& kernel) {
  static auto& team = *new Team(settings().num_workers);
  team.run(kernel);
}

}  // namespace zhalo::emulated
