// Streams of the program's own, and events.
#include <cuda_runtime_api.h>

#include <atomic>
#include <memory>
#include <string>

#include "tests/device/runtime/calls.hpp"
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

struct CUevent_st {
  int device = 0;
  std::shared_ptr<Recording> last;  // none: nothing was recorded
};

namespace {

/// A call with another device than the current one would start that device.
void check_device(int device, const char* call) {
  start_device();
  if (device != current_device())
    stop(std::string(call) + " of device " + std::to_string(device) + " while device " +
         std::to_string(current_device()) + " is current");
}

}  // namespace

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  start_device();
  count(Event::make);
  *stream = new CUstream_st{current_device()};
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  check_device(stream->device, "cudaStreamDestroy");
  // The call does not wait: a stream that is at work lives on until that is through.
  if (advance(stream->device, stream)) delete stream;
  return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  check_device(event->device, "cudaStreamWaitEvent");
  if (const auto recording = event->last) {
    enqueue(current_device(), stream,
            {"a wait for an event", {}, [recording] { return recording->advance(); }});
  }
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  start_device();
  count(Event::make);
  *event = new CUevent_st{current_device(), nullptr};
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  check_device(event->device, "cudaEventDestroy");
  delete event;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  check_device(event->device, "cudaEventRecord");
  const auto recording = std::make_shared<Recording>();
  recording->device = current_device();
  recording->stream = stream;
  event->last = recording;
  enqueue(current_device(), stream, {"an event", [recording] { recording->is_done = true; }});
  return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  check_device(event->device, "cudaEventQuery");
  return event->last == nullptr || event->last->advance() ? cudaSuccess : cudaErrorNotReady;
}
