#include "tests/device/runtime/streams.hpp"

#include <deque>
#include <map>
#include <mutex>
#include <utility>

#include "tests/device/runtime/devices.hpp"
#include "tests/device/runtime/memory.hpp"
#include "tests/device/runtime/report.hpp"
#include "tests/device/runtime/settings.hpp"

namespace zhalo::emulated {
namespace {

using Stream = std::pair<int, CUstream_st*>;

struct Queues {
  std::mutex mutex;          // of `waiting`
  std::mutex running_mutex;  // of what runs: one operation at a time
  std::map<Stream, std::deque<Operation>> waiting;
};

Queues& queues() {
  static auto& made = *new Queues;  // never destroyed: Buffers may outlive everything else
  return made;
}

std::deque<Operation> take(const Stream& stream) {
  const std::lock_guard lock(queues().mutex);
  return std::exchange(queues().waiting[stream], {});
}

}  // namespace

void enqueue(int device, CUstream_st* stream, Operation operation) {
  start_device();
  {
    const std::lock_guard lock(queues().mutex);
    queues().waiting[{device, stream}].push_back(std::move(operation));
  }
  if (!settings().deferred) finish(device, stream);
}

void finish(int device, CUstream_st* stream) {
  const std::lock_guard lock(queues().running_mutex);
  const std::deque<Operation> operations = take({device, stream});
  if (operations.empty()) return;
  const AccessScope access(device);
  for (const Operation& operation : operations) {
    const OperationScope scope(operation.name);
    operation.run();
    memory_of(device).check_patterns();
  }
}

void finish_device(int device) {
  std::map<Stream, std::deque<Operation>> all;
  {
    const std::lock_guard lock(queues().mutex);
    all = queues().waiting;
  }
  for (const auto& [stream, operations] : all)
    if (stream.first == device) finish(device, stream.second);
}

void abandon(int device, CUstream_st* stream) { take({device, stream}); }

}  // namespace zhalo::emulated
