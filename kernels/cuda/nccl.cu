// Messages between devices by NCCL.
#include <dlfcn.h>
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <thread>
#include <utility>

#include "kernels/cuda/nccl_library.hpp"
#include "kernels/cuda/streams.cuh"
#include "kernels/memory.hpp"
#include "kernels/nccl.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/core/timers.hpp"

namespace zhalo::kernels {
namespace {

// Finds NCCL on this machine.

#if defined(ZHALO_NCCL_STAND_IN)
constexpr const char* default_name = ZHALO_NCCL_STAND_IN;
#else
constexpr const char* default_name = "libnccl.so.2";
#endif

template <class Function>
void find(void* handle, const char* name, Function& function, std::string& missing) {
  void* const address = dlsym(handle, name);
  if (address == nullptr && missing.empty()) missing = name;
  static_assert(sizeof function == sizeof address);
  std::memcpy(&function, &address, sizeof address);
}

std::string find_functions(void* handle, NcclLibrary& library) {
  std::string missing;
  find(handle, "ncclGetVersion", library.get_version, missing);
  find(handle, "ncclGetUniqueId", library.get_unique_id, missing);
  find(handle, "ncclCommInitRankConfig", library.init, missing);
  find(handle, "ncclCommGetAsyncError", library.get_async_error, missing);
  find(handle, "ncclCommCount", library.count, missing);
  find(handle, "ncclCommFinalize", library.finalize, missing);
  find(handle, "ncclCommDestroy", library.destroy, missing);
  find(handle, "ncclCommAbort", library.abandon, missing);
  find(handle, "ncclGroupStart", library.group_start, missing);
  find(handle, "ncclGroupEnd", library.group_end, missing);
  find(handle, "ncclSend", library.send, missing);
  find(handle, "ncclRecv", library.receive, missing);
  find(handle, "ncclGetErrorString", library.error_string, missing);
  find(handle, "ncclGetLastError", library.last_error, missing);
  return missing;
}

NcclLibrary load() {
  NcclLibrary library;
  const char* chosen = std::getenv("ZHALO_NCCL");
  const std::string name = chosen != nullptr ? chosen : default_name;
  void* const handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);  // never closed
  if (handle == nullptr) {
    const char* reason = dlerror();
    library.why_not = "NCCL is not found (" + std::string(reason != nullptr ? reason : name) +
                      "); ZHALO_NCCL may name its library";
    return library;
  }
  const std::string missing = find_functions(handle, library);
  if (!missing.empty()) {
    library.why_not = "'" + name + "' has no " + missing + ": NCCL must be 2.18 or newer";
  } else if (library.get_version(&library.version) != NcclResult::success ||
             library.version < min_nccl_version) {
    library.why_not = "'" + name + "' is " + library.name() + " (must be 2.18 or newer)";
  }
  return library;
}

}  // namespace

std::string NcclLibrary::name() const {
  return "NCCL " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) +
         "." + std::to_string(version % 100);
}

const NcclLibrary& nccl() {
  static const NcclLibrary loaded = load();
  return loaded;
}

namespace {

// A link between devices.

/// A communicator that is no more needed ends in an orderly way if it does so soon.
constexpr double end_patience = 2;  // seconds

/// Throws what NCCL says, but for work that goes on.
void check_nccl(NcclResult result, const char* call, NcclCommunicator* comm = nullptr) {
  if (result == NcclResult::success || result == NcclResult::in_progress) return;
  const char* detail = nccl().last_error(comm);
  std::string message =
      std::string("NCCL failed: ") + nccl().error_string(result) + " from " + call;
  if (detail != nullptr && detail[0] != '\0') message += std::string(" (") + detail + ")";
  throw CommunicationError(message);
}

class Link final : public NcclLink {
 public:
  Link(const Cuda& exec, const Id& id, const NcclRank& rank)
      : device_(exec.device), stream_(exec.device), max_wait_(rank.max_wait_seconds) {
    const DeviceScope scope(device_);
    NcclUniqueId unique{};
    std::copy(id.begin(), id.end(), unique.internal);
    NcclConfig config{sizeof(NcclConfig), nccl_config_magic, min_nccl_version, 0};
    try {
      check_nccl(nccl().init(&comm_, rank.size, unique, rank.rank, &config),
                 "ncclCommInitRankConfig");
    } catch (const Error&) {
      give_up();
      throw;
    }
  }

  ~Link() override {
    end();
    in_scope(device_, [&] { free_.clear(); });
  }

  int device() const override { return device_; }
  bool is_ready() override { return !is_working(); }

  Index start(const Cuda& exec, MessageGroup group) override {
    const DeviceScope scope(device_);
    pool_ = exec.pool;
    waiting_.push_back({std::move(group), take_event()});
    waiting_.back().event.record(exec.stream);
    ++num_started_;
    advance();
    return num_started_ - 1;
  }

  bool is_done(Index number) override {
    const DeviceScope scope(device_);
    advance();
    return number < num_done_;
  }

  bool takes(const void* address) const override {
    const DeviceScope scope(device_);
    cudaPointerAttributes attributes{};
    ZHALO_CUDA_TRY(cudaPointerGetAttributes(&attributes, address));
    return attributes.type == cudaMemoryTypeDevice && attributes.device == device_;
  }

  bool give_up() noexcept override {
    bool is_quiet = true;  // also where the device has failed, or cannot be selected any more
    in_scope(device_, [&] {
      waiting_.clear();
      started_.clear();
      if (comm_ == nullptr) return;
      static_cast<void>(nccl().abandon(std::exchange(comm_, nullptr)));
      is_quiet = becomes_quiet();
    });
    const std::shared_ptr<MemoryPool> pool = pool_.lock();
    if (!is_quiet && pool != nullptr) pool->abandon_used();
    return is_quiet;
  }

 private:
  struct Started {
    MessageGroup group;
    Event event;  ///< what was queued before; then, that it is through
  };

  /// Whether the stream comes to its end in time. To wait for the stream itself would have no
  /// limit: a kernel that does not see that it was abandoned keeps its device.
  bool becomes_quiet() const {
    Event end;
    end.record(stream_);
    WaitedTime waited;
    while (!end.is_reached()) {
      if (max_wait_ > 0 && waited.look() > max_wait_) return false;
      std::this_thread::yield();
    }
    return true;
  }

  Event take_event() {
    if (free_.empty()) return Event{};
    Event event = std::move(free_.back());
    free_.pop_back();
    return event;
  }

  /// Whether NCCL is still at its last call: another one must not follow.
  bool is_working() {
    if (comm_ == nullptr) throw CommunicationError("NCCL was given up after an earlier error");
    NcclResult state = NcclResult::success;
    check_nccl(nccl().get_async_error(comm_, &state), "ncclCommGetAsyncError", comm_);
    check_nccl(state, "an operation before", comm_);
    return state == NcclResult::in_progress;
  }

  void advance() {
    if (is_working()) return;
    if (is_issued_) {  // only now its work is in the stream
      is_issued_ = false;
      join_last_call();
      waiting_.front().event.record(stream_);
      started_.push_back(std::move(waiting_.front().event));
      waiting_.pop_front();
    }
    while (!started_.empty() && started_.front().is_reached()) {
      free_.push_back(std::move(started_.front()));
      started_.pop_front();
      ++num_done_;
    }
    if (waiting_.empty()) return;
    issue(waiting_.front());
    is_issued_ = true;
    if (!is_working()) advance();
  }

  /// Versions 2.19 to 2.25 keep a finished group in mind until a call like this one, and crash at
  /// the next group without messages, or when another link is made.
  void join_last_call() {
    int num_ranks = 0;
    check_nccl(nccl().count(comm_, &num_ranks), "ncclCommCount", comm_);
  }

  void issue(const Started& started) {
    const MessageGroup& group = started.group;
    started.event.let_wait(stream_);
    for (const OwnCopy& copy : group.copies) {
      ZHALO_CUDA_TRY(cudaMemcpyAsync(copy.to, copy.from, static_cast<std::size_t>(copy.bytes),
                                     cudaMemcpyDefault, stream_));
    }
    if (group.sends.empty() && group.receives.empty()) return;
    check_nccl(nccl().group_start(), "ncclGroupStart", comm_);
    try {
      add_messages(group);
    } catch (const Error&) {
      static_cast<void>(nccl().group_end());  // an open group would swallow all later calls
      throw;
    }
    check_nccl(nccl().group_end(), "ncclGroupEnd", comm_);
  }

  void add_messages(const MessageGroup& group) {
    for (const Message& message : group.sends) {
      check_nccl(nccl().send(message.data, static_cast<std::size_t>(message.bytes), NcclType::int8,
                             message.peer, comm_, stream_),
                 "ncclSend", comm_);
    }
    for (const Message& message : group.receives) {
      check_nccl(nccl().receive(message.data, static_cast<std::size_t>(message.bytes),
                                NcclType::int8, message.peer, comm_, stream_),
                 "ncclRecv", comm_);
    }
  }

  /// In an orderly way where nothing is under way and NCCL is quick, else by force.
  void end() noexcept {
    try {
      const DeviceScope scope(device_);
      const bool is_idle = waiting_.empty() && started_.empty();
      if (comm_ == nullptr || !is_idle || is_working()) return static_cast<void>(give_up());
      check_nccl(nccl().finalize(comm_), "ncclCommFinalize", comm_);
      WaitedTime waited;
      while (is_working()) {
        if (waited.look() > end_patience) return static_cast<void>(give_up());
        std::this_thread::yield();
      }
      static_cast<void>(nccl().destroy(std::exchange(comm_, nullptr)));
    } catch (const Error&) {
      give_up();
    }
  }

  int device_ = 0;
  OwnStream stream_;
  double max_wait_;                 ///< in seconds; 0: no limit
  std::weak_ptr<MemoryPool> pool_;  ///< of the messages
  NcclCommunicator* comm_ = nullptr;
  std::deque<Started> waiting_;  ///< the first may be issued
  std::deque<Event> started_;    ///< whose work is in the stream
  std::deque<Event> free_;       ///< for groups to come
  bool is_issued_ = false;
  Index num_started_ = 0;
  Index num_done_ = 0;
};

}  // namespace

std::string why_no_nccl() { return nccl().why_not; }

std::string nccl_name() { return nccl().name(); }

NcclLink::Id make_nccl_id() {
  NcclUniqueId unique{};
  check_nccl(nccl().get_unique_id(&unique), "ncclGetUniqueId");
  NcclLink::Id id{};
  std::copy(std::begin(unique.internal), std::end(unique.internal), id.begin());
  return id;
}

std::unique_ptr<NcclLink> make_nccl_link(const Cuda& exec, const NcclLink::Id& id,
                                         const NcclRank& rank) {
  return std::make_unique<Link>(exec, id, rank);
}

DeviceId device_id(int device) {
  cudaDeviceProp properties;
  ZHALO_CUDA_TRY(cudaGetDeviceProperties(&properties, device));
  DeviceId id{};
  static_assert(sizeof properties.uuid.bytes == sizeof id);
  std::copy(std::begin(properties.uuid.bytes), std::end(properties.uuid.bytes), id.begin());
  return id;
}

}  // namespace zhalo::kernels
