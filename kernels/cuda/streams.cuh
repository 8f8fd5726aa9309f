/// Streams of zhalo's own, and events.
#pragma once

#include <cuda_runtime_api.h>

#include <utility>

#include "kernels/cuda/launch.cuh"
#include "zhalo/core/error.hpp"

namespace zhalo::kernels {

/// Does the work with the device current, if it can be: for what must not throw.
template <class Work>
void in_scope(int device, const Work& work) noexcept {
  try {
    const DeviceScope scope(device);
    work();
  } catch (const Error&) {
    // A device that cannot be selected holds nothing any more.
  }
}

/// A point in the work of a stream.
class Event {
 public:
  Event() { ZHALO_CUDA_TRY(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming)); }
  ~Event() {
    if (event_ != nullptr) static_cast<void>(cudaEventDestroy(event_));
  }
  Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&&) = delete;

  void record(cudaStream_t stream) { ZHALO_CUDA_TRY(cudaEventRecord(event_, stream)); }
  void let_wait(cudaStream_t stream) const {
    ZHALO_CUDA_TRY(cudaStreamWaitEvent(stream, event_, 0));
  }
  bool is_reached() const {
    const cudaError_t state = cudaEventQuery(event_);
    if (state != cudaErrorNotReady) ZHALO_CUDA_TRY(state);
    return state == cudaSuccess;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

/// A stream for one purpose alone, which waits for no other.
class OwnStream {
 public:
  explicit OwnStream(int device) : device_(device) {
    const DeviceScope scope(device);
    ZHALO_CUDA_TRY(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  }
  ~OwnStream() {
    in_scope(device_, [&] { static_cast<void>(cudaStreamDestroy(stream_)); });
  }
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
  operator cudaStream_t() const { return stream_; }
  int device() const { return device_; }

 private:
  int device_;
  cudaStream_t stream_ = nullptr;
};

}  // namespace zhalo::kernels
