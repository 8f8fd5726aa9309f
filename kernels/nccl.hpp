/// Messages between ranks, and how those between devices go by NCCL. The library is loaded when it
/// is first asked for, so that one build serves machines with and without it.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "zhalo/core/exec.hpp"
#include "zhalo/core/types.hpp"

namespace zhalo::kernels {

/// Bytes that travel to or from a rank.
struct Message {
  int peer = 0;
  void* data = nullptr;
  Index bytes = 0;
};

/// Bytes that stay where they are.
struct OwnCopy {
  void* to = nullptr;
  const void* from = nullptr;
  Index bytes = 0;
};

/// What travels together: both sides know of each other's messages. Those of a pair of ranks match
/// in their order. None has 0 bytes.
struct MessageGroup {
  std::vector<Message> sends;
  std::vector<Message> receives;
  std::vector<OwnCopy> copies;

  void send(const Message& message) {
    if (message.bytes > 0) sends.push_back(message);
  }
  void receive(const Message& message) {
    if (message.bytes > 0) receives.push_back(message);
  }
  Index bytes_sent() const {
    Index bytes = 0;
    for (const Message& message : sends) bytes += message.bytes;
    return bytes;
  }
};

/// This rank's end of the links between all ranks. No member function waits for other ranks. The
/// destructor may take two seconds, and what give_up() takes. All but give_up() throw
/// CommunicationError for errors of NCCL, also of messages that were started before, and
/// DeviceError for those of the device.
class NcclLink {
 public:
  using Id = std::array<char, 128>;

  NcclLink() = default;
  NcclLink(const NcclLink&) = delete;
  NcclLink& operator=(const NcclLink&) = delete;
  /// Gives up what is under way.
  virtual ~NcclLink() = default;

  virtual int device() const = 0;
  /// Whether messages may lie there: in memory of this device, which page-locked memory is not.
  virtual bool takes(const void* address) const = 0;
  /// Whether it is made.
  virtual bool is_ready() = 0;
  /// Starts messages, which travel when they are due, after what `exec` has queued. Returns the
  /// number of the group. The same order on all ranks.
  virtual Index start(const Cuda& exec, MessageGroup group) = 0;
  /// Keeps messages going; returns whether the group and all before it are through. To be called
  /// until it is so.
  virtual bool is_done(Index number) = 0;
  /// Ends what is under way. What receivers hold is undefined then. Nothing can be started
  /// afterwards. Returns whether nothing writes there any more: false where the device was still
  /// at work after the longest wait. Then what is in use of the pool is never used again.
  virtual bool give_up() noexcept = 0;
};

/// Why this process cannot use NCCL; empty if it can.
std::string why_no_nccl();
/// Such as "NCCL 2.28.9".
std::string nccl_name();
/// To be made by one rank and given to all. CommunicationError.
NcclLink::Id make_nccl_id();
/// A rank of a link.
struct NcclRank {
  int rank = 0;
  int size = 1;
  double max_wait_seconds = 0;  ///< of give_up(); 0: no limit
};
/// Begins to make a link of the devices of all its ranks, which must be distinct.
std::unique_ptr<NcclLink> make_nccl_link(const Cuda& exec, const NcclLink::Id& id,
                                         const NcclRank& rank);

/// What distinguishes a device from all others, wherever they are.
using DeviceId = std::array<char, 16>;
DeviceId device_id(int device);

}  // namespace zhalo::kernels
