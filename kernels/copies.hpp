/// Copies that go on while their owner does other things.
#pragma once

#include <cstddef>
#include <memory>

#include "zhalo/core/exec.hpp"
#include "zhalo/core/types.hpp"

namespace zhalo::kernels {

/// Copies between memory of an Exec and page-locked memory of the host, one after the other. The
/// destructor waits for them. Errors of the device are thrown.
class CopyQueue {
 public:
  CopyQueue() = default;
  virtual ~CopyQueue() = default;
  CopyQueue(const CopyQueue&) = delete;
  CopyQueue& operator=(const CopyQueue&) = delete;

  /// Copies from now on wait for the work that is queued on the Exec by now.
  virtual void follow() = 0;
  /// Returns the copy's number; the first one is 0. The copy that was begun `max_under_way` copies
  /// ago must be done.
  virtual Index begin(void* to, const void* from, std::size_t bytes) = 0;
  /// Whether this copy is done. Waits for nothing.
  virtual bool is_done(Index number) = 0;
};

/// Copies at once: there is nothing that it could overlap with.
std::unique_ptr<CopyQueue> make_copy_queue(const Host& exec, int max_under_way);
/// On a stream of its own, which is kept with the Exec's memory for the next queue.
std::unique_ptr<CopyQueue> make_copy_queue(const Cuda& exec, int max_under_way);

}  // namespace zhalo::kernels
