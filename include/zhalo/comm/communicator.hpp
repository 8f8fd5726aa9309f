/// Ranks that work together.
#pragma once

#include <mpi.h>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "zhalo/core/exec.hpp"
#include "zhalo/core/span.hpp"
#include "zhalo/core/types.hpp"

namespace zhalo {

/// A variable all-to-all, known to both sides. Elements lie by rank: those for (from) rank r are
/// [offset[r], offset[r + 1]). A pair of ranks may exchange nothing, and a rank may send to itself.
struct ExchangePlan {
  std::vector<Index> send_offset;     ///< size() + 1
  std::vector<Index> receive_offset;  ///< size() + 1

  Index num_sent() const { return send_offset.back(); }
  Index num_received() const { return receive_offset.back(); }
  /// The way back: what was received is sent to where it came from.
  ExchangePlan reversed() const { return {receive_offset, send_offset}; }
};

/// One array that travels: num_sent() elements at `send` become num_received() elements at
/// `receive`, in the order of ranks.
struct ExchangeColumn {
  const void* send = nullptr;
  void* receive = nullptr;
  Index element_size = 0;
};

struct Failure;

/// How arrays in device memory travel between ranks. Results do not depend on it.
enum class Transport {
  /// The environment variable ZHALO_TRANSPORT (auto, nccl, gpu-aware or staged) if it is set. Else
  /// NCCL where every rank has a device of its own and finds NCCL 2.18 or newer; else GPU-aware MPI
  /// where MPI says on all ranks that it is, and the first number that is sent so arrives; else
  /// staged.
  automatic,
  /// From device to device by NCCL. InputError at the first exchange of device arrays if it cannot
  /// be used. If NCCL fails later, MPI takes its place, staged or GPU-aware.
  nccl,
  /// MPI gets device addresses.
  gpu_aware,
  /// Through a bounded buffer in host memory. Arrays in host memory are copied through it, too;
  /// with all other transports these are handed to MPI as they are.
  staged
};

/// "auto", "nccl", "gpu-aware" or "staged"; InputError for another word.
Transport parse_transport(const std::string& word);

struct CommunicatorOptions {
  /// Longest wait for other ranks without any message coming or going, after which a
  /// CommunicationError names the operation; 0: for ever. Negative: the environment variable
  /// ZHALO_TIMEOUT if it is set, else half an hour. Making a communicator waits without limit.
  double timeout_seconds = -1;
  /// Longest message; longer ones are sent in parts, and staging takes 32 times this. The smallest
  /// of all ranks' counts. Up to 1 GiB.
  Index chunk_bytes = Index{4} << 20;
  Transport transport = Transport::automatic;
  /// Called before every collective operation with its name: to see, to delay, or to stop by an
  /// exception.
  std::function<void(const char* operation)> observer{};
};

/// A private duplicate of the caller's MPI communicator: messages of the caller and of zhalo cannot
/// meet, and errors return as CommunicationError. Default constructed it is a communicator of one
/// rank, needs no MPI_Init, and makes no MPI call. Movable; the duplicate is freed with it. Every
/// member function is collective but those that say otherwise.
///
/// Errors: a collective begins with the question whether all ranks got there. Where a rank threw
/// instead, and the exception passed through its together(), all others throw the same from the
/// collective they are in: none waits for the one that left.
class Communicator {
 public:
  /// One rank, without MPI.
  Communicator() = default;
  /// Collective over `parent`. MPI must be initialised by the caller; zhalo never calls MPI_Init.
  /// InputError if it is not, or if `parent` is MPI_COMM_NULL.
  explicit Communicator(MPI_Comm parent, const CommunicatorOptions& options = {});
  ~Communicator();
  Communicator(Communicator&& other) noexcept;
  Communicator& operator=(Communicator&& other) noexcept;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  // Not collective.
  int rank() const { return rank_; }
  int size() const { return size_; }
  /// Rank among, and number of, the ranks on this rank's machine.
  int node_rank() const;
  int node_size() const;
  /// Whether addresses in device memory are handed to MPI where NCCL is not used. Before the first
  /// exchange: as far as MPI says.
  bool is_gpu_aware() const;
  /// Whether a wait for other ranks was given up, or MPI failed: every collective throws
  /// CommunicationError from then on.
  bool is_broken() const;
  /// Bytes that this rank sent to others by exchange().
  Index bytes_sent() const;

  /// Chooses, if it was not done yet, how arrays in memory of `exec` travel: Transport::nccl,
  /// gpu_aware or staged. exchange() does so by itself. Makes the links of NCCL, which may take
  /// seconds. InputError if the transport that was asked for cannot be used.
  Transport choose_transport(const Exec& exec) const;
  /// The same in words, such as "NCCL 2.28.9".
  std::string describe_transport(const Exec& exec) const;
  /// Changes CommunicatorOptions::transport.
  void use_transport(Transport transport) const;

  void barrier() const;
  Index sum(Index value) const;
  double sum(double value) const;
  Index min(Index value) const;
  double min(double value) const;
  Index max(Index value) const;
  double max(double value) const;
  /// Sum over the lower ranks; 0 on rank 0.
  Index exclusive_sum(Index value) const;
  /// Element-wise, in place.
  void sum_in_place(Span<Index> values) const;
  void exclusive_sum_in_place(Span<Index> values) const;
  /// Copies rank `root`'s text to all.
  std::string broadcast(const std::string& text, int root = 0) const;

  /// One record of each rank, in the order of ranks. For small records: every rank holds all of
  /// them.
  template <class T>
  std::vector<T> all_gather(const T& record) const {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 65536,
                  "a small record without pointers");
    std::vector<T> all(static_cast<std::size_t>(size_));
    all_gather_bytes(&record, all.data(), sizeof(T));
    return all;
  }

  /// Tells each rank what it will receive if this rank sends `send_counts[r]` elements to rank r.
  /// Costs a message per pair that exchanges something where these are few, else one all-to-all of
  /// counts.
  ExchangePlan plan_exchange(const std::vector<Index>& send_counts) const;
  /// Sends and receives all columns at once, in memory of `exec`; waits for what `exec` has queued.
  /// Send and receive arrays must not overlap. Deterministic: every element has its place. A device
  /// that fails on one rank is an error of all ranks.
  void exchange(const Exec& exec, const ExchangePlan& plan,
                const std::vector<ExchangeColumn>& columns) const;
  template <class T>
  void exchange(const Exec& exec, const ExchangePlan& plan, Span<const T> send,
                Span<T> receive) const {
    static_assert(std::is_trivially_copyable_v<T>);
    ZHALO_EXPECT(send.size() == plan.num_sent() && receive.size() == plan.num_received());
    exchange(exec, plan, {{send.data(), receive.data(), static_cast<Index>(sizeof(T))}});
  }

  /// Ranks with the same colour become a communicator of their own, in the same order.
  Communicator split(int colour) const;
  /// The ranks of each machine (those that can share memory) become a communicator of their own, in
  /// the same order.
  Communicator split_by_machine() const;

  /// Runs `work`, which may itself be collective; if it throws on any rank, all ranks throw the
  /// same error: the one of the lowest rank that failed, with that rank's number unless all failed
  /// alike. zhalo's errors keep their type, others become zhalo::Error. May be nested.
  void together(const std::function<void()>& work) const;

 private:
  friend class PartExchange;
  friend class LinkedRanks;
  friend MPI_Comm mpi_handle(const Communicator& comm);
  struct State;
  /// Asks whether all ranks got here. Returns whether on some rank the operation itself may fail,
  /// too.
  bool enter(const char* operation, bool may_fail = false) const;
  /// Collective, before the first exchange: tries what MPI says of addresses of devices. If it is
  /// not so, messages are staged.
  void probe_gpu_aware(const Exec& exec) const;
  void exchange_by_mpi(const Exec& exec, const ExchangePlan& plan,
                       const std::vector<ExchangeColumn>& columns) const;
  void tell_others(const Failure& failure) const;
  Communicator make_part(MPI_Comm part) const;
  void all_gather_bytes(const void* record, void* all, std::size_t bytes) const;
  template <class T>
  T reduce(T value, MPI_Op op, const char* operation) const;
  enum class Prefix { no, yes };
  void reduce_in_place(Span<Index> values, Prefix prefix, const char* operation) const;

  std::shared_ptr<State> state_;  ///< none without MPI
  int rank_ = 0;
  int size_ = 1;
};

/// together() for work that returns something.
template <class Work>
auto together(const Communicator& comm, const Work& work) -> decltype(work()) {
  std::optional<decltype(work())> result;
  comm.together([&] { result.emplace(work()); });
  return std::move(*result);
}

/// The contiguous share [first, first + count) of `total` items that falls to a rank; shares differ
/// by at most one.
struct Share {
  Index first = 0;
  Index count = 0;
};
Share share_of(Index total, int rank, int size);
/// The rank whose share holds item `item` of `total`.
int owner_of(Index item, Index total, int size);

}  // namespace zhalo
