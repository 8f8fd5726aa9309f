#include "tests/device/runtime/streams.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "tests/device/runtime/devices.hpp"
#include "tests/device/runtime/memory.hpp"
#include "tests/device/runtime/report.hpp"
#include "tests/device/runtime/settings.hpp"

namespace zhalo::emulated {
namespace {

using Stream = std::pair<int, CUstream_st*>;

struct Queues {
  std::mutex mutex;                    // of `waiting`
  std::recursive_mutex running_mutex;  // of what runs: one operation at a time
  std::map<Stream, std::deque<Operation>> waiting;
};

Queues& queues() {
  static auto& made = *new Queues;  // never destroyed: Buffers may outlive everything else
  return made;
}

/// The operation whose turn it is, which stays where it is while others are queued; nullptr: none.
Operation* first_of(const Stream& stream) {
  const std::lock_guard lock(queues().mutex);
  std::deque<Operation>& waiting = queues().waiting[stream];
  return waiting.empty() ? nullptr : &waiting.front();
}

void remove_first(const Stream& stream) {
  const std::lock_guard lock(queues().mutex);
  std::deque<Operation>& waiting = queues().waiting[stream];
  if (!waiting.empty()) waiting.pop_front();
}

/// Whether the operation came to its end.
bool run(Operation& operation, int device) {
  const OperationScope scope(operation.name);
  bool is_done = true;
  if (operation.advance) {
    is_done = operation.advance();
  } else {
    operation.run();
  }
  memory_of(device).check_patterns();
  return is_done;
}

}  // namespace

void enqueue(int device, CUstream_st* stream, Operation operation) {
  start_device();
  if (stream != nullptr && stream->device != device)
    stop("a stream of device " + std::to_string(stream->device) + " is used on device " +
         std::to_string(device));
  {
    const std::lock_guard lock(queues().mutex);
    queues().waiting[{device, stream}].push_back(std::move(operation));
  }
  if (!settings().deferred) static_cast<void>(advance(device, stream));
}

bool advance(int device, CUstream_st* stream) {
  const std::lock_guard lock(queues().running_mutex);
  if (first_of({device, stream}) == nullptr) return true;
  const AccessScope access(device);
  while (Operation* const operation = first_of({device, stream})) {
    if (!run(*operation, device)) return false;
    remove_first({device, stream});
  }
  return true;
}

void finish(int device, CUstream_st* stream) {
  while (!advance(device, stream)) std::this_thread::yield();
}

void finish_device(int device) {
  std::vector<CUstream_st*> streams;
  {
    const std::lock_guard lock(queues().mutex);
    for (const auto& [stream, operations] : queues().waiting)
      if (stream.first == device) streams.push_back(stream.second);
  }
  for (CUstream_st* const stream : streams) finish(device, stream);
}

bool is_idle(int device) {
  const std::lock_guard lock(queues().mutex);
  const auto& waiting = queues().waiting;
  return std::all_of(waiting.begin(), waiting.end(), [&](const auto& stream) {
    return stream.first.first != device || stream.second.empty();
  });
}

void abandon(int device, CUstream_st* stream) {
  const std::lock_guard running(queues().running_mutex);
  const std::lock_guard lock(queues().mutex);
  queues().waiting[{device, stream}].clear();
}

}  // namespace zhalo::emulated
