/// A library that stands in for NCCL where devices are emulated: the functions that zhalo calls,
/// for communicators that do not block. Messages go through shared memory; they travel while
/// something looks at their stream. It refuses what NCCL refuses: two ranks on one device, memory
/// of the host, a call while the one before goes on. It stops where versions 2.19 to 2.25 crash.
///
///   ZHALO_NCCL_FAIL=WHAT:RANK[:N]  what goes wrong on one rank: identifier (it makes none), refuse
///                                  (it gets no communicator), absent (it never joins), send (a
///                                  send of its N-th group is refused), hang (nothing of its N-th
///                                  group travels), stuck (the same, also once NCCL was given up,
///                                  until this variable is unset), error (its N-th group fails
///                                  later)
///   ZHALO_NCCL_VERSION=N           its version (22105)
#include <cuda_runtime_api.h>

#include <unistd.h>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/device/nccl/channel.hpp"
#include "tests/device/runtime/devices.hpp"
#include "tests/device/runtime/memory.hpp"
#include "tests/device/runtime/report.hpp"
#include "tests/device/runtime/streams.hpp"

namespace zhalo::nccl_stand_in {
namespace {

enum Result {
  success = 0,
  system_error = 2,
  invalid_argument = 4,
  invalid_usage = 5,
  in_progress = 7
};

/// ncclConfig_t, as far as it is looked at.
struct Config {
  std::size_t size;
  unsigned magic;
  unsigned version;
  int blocking;
};

/// How often a call is still at work after it returned.
constexpr int looks_until_done = 2;

struct Fault {
  std::string what;
  int rank = -1;
  int group = 1;

  bool hits(const char* name, int of_rank, int number = 1) const {
    return what == name && rank == of_rank && group == number;
  }
};

Fault read_fault() {
  Fault fault;
  const char* text = std::getenv("ZHALO_NCCL_FAIL");
  if (text == nullptr) return fault;
  const std::string all = text;
  const std::size_t first = all.find(':');
  const std::size_t second = all.find(':', first + 1);
  fault.what = all.substr(0, first);
  fault.rank = std::stoi(all.substr(first + 1));
  if (second != std::string::npos) fault.group = std::stoi(all.substr(second + 1));
  return fault;
}

/// One direction of a message, with its length ahead.
struct Message {
  bool is_send = false;
  int peer = 0;
  char* data = nullptr;
  std::uint64_t bytes = 0;
  std::uint64_t length_there = 0;  ///< as the sender says
  std::size_t done = 0;            ///< of the length and the bytes

  bool is_done() const { return done == sizeof bytes + bytes; }
};

struct Communicator {
  std::unique_ptr<Channel> channel;
  int device = 0;
  int num_groups = 0;
  int looks_left = 0;  ///< until the last call is through
  int error = success;
  bool is_given_up = false;
  /// Groups that were ended, until the call is through and they are in their stream.
  std::deque<std::pair<CUstream_st*, std::vector<Message>>> to_queue;
};

using Shared = std::shared_ptr<Communicator>;

void transfer(Ring& ring, Message& message) {
  constexpr std::size_t head = sizeof message.bytes;
  auto* const length =
      reinterpret_cast<char*>(message.is_send ? &message.bytes : &message.length_there);
  const auto move = [&](char* data, std::size_t bytes) {
    return message.is_send ? ring.write(data, bytes) : ring.read(data, bytes);
  };
  if (message.done < head) message.done += move(length + message.done, head - message.done);
  if (message.done < head) return;
  if (!message.is_send && message.length_there != message.bytes)
    emulated::stop("NCCL: a rank sends " + std::to_string(message.length_there) +
                   " bytes to one that receives " + std::to_string(message.bytes));
  const std::size_t begin = message.done - head;
  message.done += move(message.data + begin, message.bytes - begin);
}

/// Moves what can be moved now; of each pair of ranks one message after the other.
bool transfer(const Communicator& comm, std::vector<Message>& messages) {
  if (comm.is_given_up) return true;
  if (!comm.channel->is_complete()) return false;
  std::map<std::pair<bool, int>, bool> is_waiting;
  bool all = true;
  for (Message& message : messages) {
    if (message.is_done()) continue;
    bool& waits = is_waiting[{message.is_send, message.peer}];
    const int me = comm.channel->rank();
    if (!waits)
      transfer(message.is_send ? comm.channel->ring(me, message.peer)
                               : comm.channel->ring(message.peer, me),
               message);
    waits = !message.is_done();
    all = all && message.is_done();
  }
  return all;
}

void queue(const Shared& comm, CUstream_st* stream, std::vector<Message> messages) {
  const int number = ++comm->num_groups;
  const Fault fault = read_fault();
  const int rank = comm->channel->rank();
  const bool hangs = fault.hits("hang", rank, number);
  const bool is_stuck = fault.hits("stuck", rank, number);
  if (is_stuck) emulated::allow_lost_memory();
  if (fault.hits("error", rank, number)) comm->error = system_error;
  const auto shared = std::make_shared<std::vector<Message>>(std::move(messages));
  emulated::enqueue(comm->device, stream, {"messages of NCCL", {}, [=] {
                                             if (is_stuck && read_fault().what == "stuck")
                                               return false;
                                             if (comm->is_given_up) return true;
                                             return !hangs && comm->error == success &&
                                                    transfer(*comm, *shared);
                                           }});
}

/// What this thread has begun between group_start and group_end.
struct Group {
  int depth = 0;
  Shared comm;
  CUstream_st* stream = nullptr;
  std::vector<Message> messages;
};
thread_local Group group;

void end_group() {
  if (group.comm == nullptr) return;
  group.comm->to_queue.emplace_back(group.stream, std::move(group.messages));
  group.comm->looks_left = looks_until_done;
  group = {};
}

/// Whether this thread's last group is not forgotten yet (see ncclCommCount).
thread_local bool has_old_group = false;

void refuse_old_group(const char* call) {
  if (has_old_group) emulated::stop(std::string("NCCL 2.21 crashes in ") + call);
}

void refuse_early_call(const Shared& comm) {
  if (comm->looks_left > 0) emulated::stop("NCCL is called while the call before goes on");
}

int add(const Shared& comm, CUstream_st* stream, int type, const Message& message) {
  refuse_early_call(comm);
  if (type != 0) emulated::stop("a message of NCCL is not of bytes");
  if (message.peer < 0 || message.peer >= comm->channel->size())
    emulated::stop("a message of NCCL is for rank " + std::to_string(message.peer));
  has_old_group = false;
  if (message.is_send && read_fault().hits("send", comm->channel->rank(), comm->num_groups + 1))
    return system_error;
  if (emulated::device_of(message.data) != comm->device) return invalid_argument;
  emulated::memory_of(comm->device).check_range(message.data, message.bytes, "a message of NCCL");
  if (group.comm != nullptr && (group.comm != comm || group.stream != stream))
    emulated::stop("the stand-in of NCCL takes groups of one communicator and stream");
  group.comm = comm;
  group.stream = stream;
  group.messages.push_back(message);
  if (group.depth == 0) end_group();
  return success;
}

/// One more look at a communicator: its last call goes on.
int look_at(const Shared& comm) {
  if (comm->error != success) return comm->error;
  if (comm->channel == nullptr || !comm->channel->is_complete()) return in_progress;
  if (comm->channel->shares_device()) return invalid_usage;
  if (comm->looks_left > 0 && --comm->looks_left > 0) return in_progress;
  while (!comm->to_queue.empty()) {
    auto [stream, messages] = std::move(comm->to_queue.front());
    comm->to_queue.pop_front();
    queue(comm, stream, std::move(messages));
  }
  return success;
}

}  // namespace
}  // namespace zhalo::nccl_stand_in

using namespace zhalo;
using namespace zhalo::nccl_stand_in;

struct ncclComm {
  Shared shared;
};
struct ncclUniqueId {
  char internal[128];
};

extern "C" {

int ncclGetVersion(int* version) {
  const char* text = std::getenv("ZHALO_NCCL_VERSION");
  *version = text != nullptr ? std::atoi(text) : 22105;
  return success;
}

int ncclGetUniqueId(ncclUniqueId* id) {
  if (read_fault().hits("identifier", 0)) return system_error;
  static std::atomic<int> num_made = 0;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const std::string name = "/zhalo-nccl-" + std::to_string(getpid()) + "-" +
                           std::to_string(++num_made) + "-" + std::to_string(now.tv_nsec);
  *id = {};
  std::memcpy(id->internal, name.data(), name.size());
  return success;
}

int ncclCommInitRankConfig(ncclComm** comm, int size, ncclUniqueId id, int rank,
                           const Config* config) {
  refuse_old_group("ncclCommInitRankConfig");
  if (config->magic != 0xcafebeef || config->size < sizeof(Config) || config->blocking != 0)
    emulated::stop(
        "ncclCommInitRankConfig: the configuration is not one of calls that do not block");
  const Fault fault = read_fault();
  *comm = nullptr;
  if (fault.hits("refuse", rank)) return system_error;
  *comm = new ncclComm{std::make_shared<Communicator>()};
  Communicator& made = *(*comm)->shared;
  made.device = emulated::current_device();
  made.looks_left = looks_until_done;
  if (!fault.hits("absent", rank))
    made.channel = std::make_unique<Channel>(id.internal, rank, size, made.device);
  return in_progress;
}

int ncclCommGetAsyncError(ncclComm* comm, int* state) {
  *state = look_at(comm->shared);
  return success;
}

/// Versions 2.19 to 2.25 forget the last group of the thread here, among other functions.
int ncclCommCount(ncclComm* comm, int* num) {
  refuse_early_call(comm->shared);
  has_old_group = false;
  *num = comm->shared->channel->size();
  return success;
}

int ncclCommFinalize(ncclComm* comm) {
  refuse_early_call(comm->shared);
  has_old_group = false;
  comm->shared->looks_left = looks_until_done;
  return in_progress;
}

int ncclCommDestroy(ncclComm* comm) {
  delete comm;
  return success;
}

int ncclCommAbort(ncclComm* comm) {
  comm->shared->is_given_up = true;
  has_old_group = false;
  delete comm;
  return success;
}

int ncclGroupStart() {
  ++group.depth;
  return success;
}

int ncclGroupEnd() {
  if (--group.depth > 0) return success;
  if (group.comm == nullptr) refuse_old_group("ncclGroupEnd without messages");
  has_old_group = group.comm != nullptr;
  end_group();
  return in_progress;
}

int ncclSend(const void* data, std::size_t count, int type, int peer, ncclComm* comm,
             CUstream_st* stream) {
  auto* const bytes = const_cast<char*>(static_cast<const char*>(data));
  return add(comm->shared, stream, type, {true, peer, bytes, count});
}

int ncclRecv(void* data, std::size_t count, int type, int peer, ncclComm* comm,
             CUstream_st* stream) {
  return add(comm->shared, stream, type, {false, peer, static_cast<char*>(data), count});
}

const char* ncclGetErrorString(int result) {
  switch (result) {
    case success: return "no error";
    case system_error: return "unhandled system error";
    case invalid_argument: return "invalid argument";
    case invalid_usage: return "invalid usage";
    default: return "operation in progress";
  }
}

const char* ncclGetLastError(ncclComm*) { return ""; }

}  // extern "C"
