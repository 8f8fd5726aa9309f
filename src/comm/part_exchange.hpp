/// An exchange that goes on, part by part, while its owner computes.
#pragma once

#include <exception>
#include <memory>
#include <vector>

#include "zhalo/comm/communicator.hpp"

namespace zhalo {

/// Bytes to or from a rank, in memory of the Exec. Both sides know of each other's messages; those
/// of a pair of ranks travel in the order in which they were started.
struct Message {
  int peer = 0;
  void* data = nullptr;
  Index bytes = 0;
};

/// Part of an exchange: its arrays belong to it until finish().
struct MessagePart {
  std::vector<Message> sends;
  std::vector<Message> receives;
};

class PartExchange {
 public:
  /// Collective: asks whether all ranks got here. The communicator and the Exec must outlive it. No
  /// message may be longer than `longest_bytes`.
  PartExchange(const Communicator& comm, const Exec& exec, Index longest_bytes);
  /// With messages under way, the communicator is of no use any more.
  ~PartExchange();
  PartExchange(const PartExchange&) = delete;
  PartExchange& operator=(const PartExchange&) = delete;

  /// Lets the part's messages travel when it is their turn; waits for nobody. What the Exec was to
  /// write is written. Returns the part's number.
  Index start(const MessagePart& part);
  /// Looks after the messages: to be called now and then.
  void advance();
  /// Waits for a part and all before it.
  void finish(Index part);
  /// Waits for all parts, then throws `failure`, which this rank met meanwhile, or what failed of
  /// the messages. Collective.
  void finish_all(const std::exception_ptr& failure);

 private:
  struct Streams;
  struct ByMessages;
  struct ByLink;

  const Communicator& comm_;
  std::unique_ptr<Streams> streams_;  ///< none on one rank
};

}  // namespace zhalo
