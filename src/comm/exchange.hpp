/// Exchanges besides those of a communicator itself: of what is in memory of the host, part by part
/// while their owner computes, and through memory that the ranks of a machine share.
#pragma once

#include <cstddef>
#include <exception>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/nccl.hpp"
#include "zhalo/comm/communicator.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/core/exec.hpp"
#include "zhalo/core/span.hpp"

namespace zhalo {

// Exchanges of what ranks have in memory of the host.

/// What this rank receives by the plan. Collective.
template <class T>
std::vector<T> exchanged(const Communicator& comm, const ExchangePlan& plan,
                         const std::vector<T>& sent) {
  // Not from and to the vectors: MPI may use the memory after a wait that was given up.
  const Exec exec = host_exec(1);
  const Buffer<T> to_send = to_exec(exec, Span<const T>(sent), "records for other ranks");
  Buffer<T> received(exec, plan.num_received(), "records of other ranks");
  comm.exchange(exec, plan, to_send.span(), received.span());
  return to_host(exec, received);
}

/// What the ranks have for this one, in their order.
template <class T>
struct Received {
  ExchangePlan plan;
  std::vector<T> elements;
};

/// Sends each rank what is for it. Collective.
template <class T>
Received<T> exchanged(const Communicator& comm, const std::vector<std::vector<T>>& for_ranks) {
  std::vector<T> sent;
  std::vector<Index> counts;
  for (const std::vector<T>& for_rank : for_ranks) {
    counts.push_back(std::ssize(for_rank));
    sent.insert(sent.end(), for_rank.begin(), for_rank.end());
  }
  ExchangePlan plan = comm.plan_exchange(counts);
  std::vector<T> elements = exchanged(comm, plan, sent);
  return {std::move(plan), std::move(elements)};
}

// An exchange that goes on, part by part, while its owner computes.

class PartExchange {
 public:
  /// Collective: asks whether all ranks got here. The communicator and the Exec must outlive it. No
  /// message may be longer than `longest_bytes`.
  PartExchange(const Communicator& comm, const Exec& exec, Index longest_bytes);
  /// With messages under way, the communicator is of no use any more.
  ~PartExchange();
  PartExchange(const PartExchange&) = delete;
  PartExchange& operator=(const PartExchange&) = delete;

  /// Lets messages in memory of the Exec travel when it is their turn; waits for nobody. What the
  /// Exec was to write is written. The arrays belong to the part until finish(). Returns the part's
  /// number.
  Index start(kernels::MessageGroup part);
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

// Memory that the ranks of a machine read and write together.

/// One part for each rank, which the other ranks of its machine see as well. Who writes when is
/// their agreement: the memory has no locks, a barrier() of the communicator separates writing from
/// reading. Freed without communication, in any order.
class SharedMemory {
 public:
  /// No memory.
  SharedMemory() = default;
  /// Collective. `bytes` of this rank's part, which is page-aligned and zero. If some rank gets
  /// none (no room, none allowed), no rank does, and why_not() says why.
  SharedMemory(const Communicator& comm, Index bytes);

  bool is_there() const { return !parts_.empty(); }
  const std::string& why_not() const { return why_not_; }
  /// A rank's part, or nullptr if it is on another machine.
  std::byte* part(int rank) const;
  bool reaches(int rank) const { return part(rank) != nullptr; }
  /// MPI may still write to it: it is never freed.
  void abandon() {
    if (is_abandoned_) *is_abandoned_ = true;
  }

 private:
  struct Part {
    int rank = 0;
    std::shared_ptr<std::byte> memory;
  };
  std::vector<Part> parts_;
  std::shared_ptr<bool> is_abandoned_;  ///< which the parts look at when they are freed
  std::string why_not_;
};

}  // namespace zhalo
