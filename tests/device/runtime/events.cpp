// Streams of the program's own, and events.
#include <cuda_runtime_api.h>

#include <atomic>
#include <memory>

#include "tests/device/runtime/devices.hpp"
#include "tests/device/runtime/report.hpp"
#include "tests/device/runtime/streams.hpp"

namespace zhalo::emulated {
namespace {

/// One recording of an event: what was queued before it.
struct Recording {
  int device = 0;
  CUstream_st* stream = nullptr;
  std::atomic<bool> is_done = false;

  /// Runs what can run of the stream that the event is in.
  bool advance() {
    if (!is_done) static_cast<void>(emulated::advance(device, stream));
    return is_done;
  }
};

}  // namespace
}  // namespace zhalo::emulated

using namespace zhalo::emulated;

struct CUstream_st {
  int device = 0;
};
struct CUevent_st {
  std::shared_ptr<Recording> last;  // none: nothing was recorded
};

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  start_device();
  *stream = new CUstream_st{current_device()};
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  finish(stream->device, stream);
  delete stream;
  return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  if (const auto recording = event->last) {
    enqueue(current_device(), stream,
            {"a wait for an event", {}, [recording] { return recording->advance(); }});
  }
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  start_device();
  *event = new CUevent_st;
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  const auto recording = std::make_shared<Recording>();
  recording->device = current_device();
  recording->stream = stream;
  event->last = recording;
  enqueue(current_device(), stream, {"an event", [recording] { recording->is_done = true; }});
  return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return event->last == nullptr || event->last->advance() ? cudaSuccess : cudaErrorNotReady;
}
