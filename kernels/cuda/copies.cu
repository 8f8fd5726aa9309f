// Copies that go on while messages travel.
#include <cuda_runtime_api.h>

#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/cuda/streams.cuh"
#include "kernels/memory.hpp"

namespace zhalo::kernels {
namespace {

/// A stream, with an event for each copy that may be under way.
struct CopyLane {
  explicit CopyLane(int device) : stream(device) {}
  ~CopyLane() {
    in_scope(stream.device(), [&] {
      before.reset();
      done.clear();
    });
  }
  CopyLane(const CopyLane&) = delete;
  CopyLane& operator=(const CopyLane&) = delete;

  OwnStream stream;
  std::optional<Event> before;
  std::vector<Event> done;
};

/// Those of a context that nobody uses: to make a stream takes as long as a large copy.
class KeptLanes {
 public:
  std::unique_ptr<CopyLane> take(int device) {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return std::make_unique<CopyLane>(device);
    std::unique_ptr<CopyLane> lane = std::move(free_.back());
    free_.pop_back();
    return lane;
  }
  void give_back(std::unique_ptr<CopyLane> lane) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(lane));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<CopyLane>> free_;
};

class DeviceCopies final : public CopyQueue {
 public:
  DeviceCopies(const Cuda& exec, int max_under_way)
      : exec_(exec), max_under_way_(static_cast<std::size_t>(max_under_way)) {
    const DeviceScope scope(exec_.device);
    lane_ = exec_.pool->kept<KeptLanes>().take(exec_.device);
    if (!lane_->before) lane_->before.emplace();
    while (lane_->done.size() < max_under_way_) lane_->done.emplace_back();
  }
  ~DeviceCopies() override {
    in_scope(exec_.device, [&] {
      if (num_done_ < num_begun_) static_cast<void>(cudaStreamSynchronize(lane_->stream));
      exec_.pool->kept<KeptLanes>().give_back(std::move(lane_));
    });
  }
  DeviceCopies(const DeviceCopies&) = delete;
  DeviceCopies& operator=(const DeviceCopies&) = delete;

  void follow() override {
    const DeviceScope scope(exec_.device);
    lane_->before->record(exec_.stream);
    lane_->before->let_wait(lane_->stream);
  }

  Index begin(void* to, const void* from, std::size_t bytes) override {
    const DeviceScope scope(exec_.device);
    ZHALO_CUDA_TRY(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, lane_->stream));
    event_of(num_begun_).record(lane_->stream);
    return num_begun_++;
  }

  bool is_done(Index number) override {
    const DeviceScope scope(exec_.device);
    while (num_done_ < num_begun_ && event_of(num_done_).is_reached()) ++num_done_;
    return number < num_done_;
  }

 private:
  Event& event_of(Index number) {
    return lane_->done[static_cast<std::size_t>(number) % max_under_way_];
  }

  Cuda exec_;
  std::size_t max_under_way_;
  std::unique_ptr<CopyLane> lane_;
  Index num_begun_ = 0;
  Index num_done_ = 0;
};

}  // namespace

std::unique_ptr<CopyQueue> make_copy_queue(const Cuda& exec, int max_under_way) {
  return std::make_unique<DeviceCopies>(exec, max_under_way);
}

}  // namespace zhalo::kernels
