/// Communication between ranks.
#pragma once

#include <mpi.h>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "zhalo/core/buffer.hpp"
#include "zhalo/core/exec.hpp"
#include "zhalo/core/span.hpp"
#include "zhalo/core/types.hpp"

namespace zhalo {

/// A variable all-to-all exchange, as this rank sees it. Elements are in the order of ranks: those
/// for (or from) rank r are [offset[r], offset[r + 1]). Two ranks may exchange nothing, and a rank
/// may send to itself.
struct ExchangePlan {
  std::vector<Index> send_offset;     ///< size() + 1
  std::vector<Index> receive_offset;  ///< size() + 1

  Index num_sent() const { return send_offset.empty() ? 0 : send_offset.back(); }
  Index num_received() const { return receive_offset.empty() ? 0 : receive_offset.back(); }
  /// The plan of the opposite direction: what was received is sent back to where it came from.
  ExchangePlan reversed() const { return {receive_offset, send_offset}; }
};

/// One array of an exchange: num_sent() elements, without gaps, become num_received() elements at
/// `to`, both in the order of ranks. The memory is the caller's.
struct ColumnMove {
  ColumnView from;
  void* to = nullptr;
  bool leaves_own = false;  ///< what a rank has for itself is not copied
};

struct Failure;
class Network;
enum class RankReduction;

/// How arrays in device memory travel between ranks. Results do not depend on it.
enum class Transport {
  /// The environment variable ZHALO_TRANSPORT (auto, nccl, gpu-aware or staged) decides, if it is
  /// set. Else zhalo takes NCCL where every rank has a device of its own and finds NCCL 2.18 or
  /// newer. Else it takes GPU-aware MPI where MPI says on all ranks that it is, and a first test
  /// message arrives. Else arrays are staged. Between threads it takes gpu_aware.
  automatic,
  /// From device to device by NCCL. Exchanges of device arrays throw InputError if NCCL cannot be
  /// used. If NCCL fails later, MPI takes its place, staged or GPU-aware.
  nccl,
  /// MPI gets device addresses. It must be built for that: most others crash, so that no test could
  /// tell. Between the threads of run_on_devices(): copies from device to device.
  gpu_aware,
  /// Through a bounded buffer in host memory. This transport copies arrays in host memory, too. All
  /// others hand them to MPI as they are.
  staged
};

/// "auto", "nccl", "gpu-aware" or "staged"; InputError for another word.
Transport parse_transport(const std::string& word);

struct CommunicatorOptions {
  /// Longest wait for other ranks, in seconds, while no message comes or goes. Then a
  /// CommunicationError names the operation. 0: no limit. Negative: the environment variable
  /// ZHALO_TIMEOUT if it is set, else half an hour. Making a communicator waits without limit.
  double timeout_seconds = -1;
  /// Longest message in bytes, up to 1 GiB. Longer messages are sent in parts. Staging needs 32
  /// times this. The smallest value of all ranks is used.
  Index chunk_bytes = Index{4} << 20;
  Transport transport = Transport::automatic;
  /// Called with the name of each collective operation before it begins. It may watch, delay, or
  /// stop the operation by an exception.
  std::function<void(const char* operation)> observer{};
};

/// A private duplicate of the caller's MPI communicator. Messages of the caller and of zhalo cannot
/// meet. Errors that MPI returns become CommunicationError. Ranks that call different collective
/// operations are an error of the caller, for which MPI may end the process. The ranks may also be
/// threads of one process: run_on_devices() and run_on_threads() (zhalo/comm/threads.hpp) make such
/// communicators.
///
/// A default-constructed Communicator has one rank, needs no MPI_Init, and makes no MPI call. A
/// Communicator is movable and frees its duplicate in the end. Every member function is collective
/// unless it says otherwise.
///
/// Errors: every collective operation begins by asking whether all ranks have reached it. If a rank
/// throws an exception instead, and the exception passes through its together(), all other ranks
/// throw the same error from the collective operation that they are in. So no rank waits for one
/// that has left. After a CommunicationError MPI may still write to the arrays of an exchange.
class Communicator {
 public:
  /// One rank, without MPI.
  Communicator() = default;
  /// Collective over `parent`. The caller must have initialised MPI; zhalo never calls MPI_Init.
  /// InputError if MPI is not initialised, or is finalised, `parent` is MPI_COMM_NULL, or an option
  /// is out of range.
  explicit Communicator(MPI_Comm parent, const CommunicatorOptions& options = {});
  ~Communicator();
  Communicator(Communicator&& other) noexcept;
  Communicator& operator=(Communicator&& other) noexcept;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  // Not collective.
  int rank() const { return rank_; }
  int size() const { return size_; }
  /// This rank's number among the ranks on its machine, and the number of these ranks.
  int node_rank() const;
  int node_size() const;
  /// Whether the ranks are threads of this process, which make no MPI call.
  bool is_of_threads() const;
  /// Whether MPI gets addresses in device memory where NCCL is not used. Before the first exchange
  /// this may be MPI's own claim, not tested yet.
  bool is_gpu_aware() const;
  /// Whether a wait for other ranks timed out, MPI failed, or it is finalised. Then every
  /// collective operation throws CommunicationError.
  bool is_broken() const;
  /// Bytes that this rank has sent to other ranks in exchanges.
  Index bytes_sent() const;

  /// Chooses, if it was not done yet, how arrays in memory of `exec` travel: Transport::nccl,
  /// gpu_aware or staged. exchange() does so by itself. Makes the links of NCCL, which may take
  /// seconds. InputError if NCCL was asked for but cannot be used; gpu_aware is taken on trust.
  Transport choose_transport(const Exec& exec) const;
  /// The same in words, such as "NCCL 2.28.9".
  std::string describe_transport(const Exec& exec) const;
  /// Changes CommunicatorOptions::transport.
  void use_transport(Transport transport) const;

  /// Returns when all ranks have called it. Collective. As all operations below, it throws
  /// CommunicationError if a wait times out or MPI fails, and the error of a rank that failed.
  void barrier() const;
  /// The sum, the smallest or the largest of the values of all ranks. Collective; all ranks get the
  /// result. A sum of Index must not overflow. How a sum of double is rounded may depend on the
  /// number of ranks.
  Index sum(Index value) const;
  double sum(double value) const;
  Index min(Index value) const;
  double min(double value) const;
  Index max(Index value) const;
  double max(double value) const;
  /// Sum of the values of all lower ranks; 0 on rank 0.
  Index exclusive_sum(Index value) const;
  /// The same for arrays, element by element and in place.
  void sum_in_place(Span<Index> values) const;
  void exclusive_sum_in_place(Span<Index> values) const;
  /// Returns the text of rank `root` on all ranks. InputError if there is no such rank.
  std::string broadcast(const std::string& text, int root = 0) const;

  /// Returns one record of each rank, in the order of ranks. For small records only, because every
  /// rank holds all of them.
  template <class T>
  std::vector<T> all_gather(const T& record) const {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 65536,
                  "a small record without pointers");
    std::vector<T> all(static_cast<std::size_t>(size_));
    all_gather_bytes(&record, all.data(), sizeof(T));
    return all;
  }

  /// Makes a plan from `send_counts`: this rank sends send_counts[r] elements to rank r. The plan
  /// also says what this rank will receive. If ranks exchange with few others, this costs one
  /// message per pair; otherwise it costs one all-to-all of counts. InputError unless there is a
  /// count for each rank, and none is negative.
  ExchangePlan plan_exchange(const std::vector<Index>& send_counts) const;
  /// Sends and receives all columns at once, in memory of `exec`. It first waits for the work that
  /// is queued on `exec`. Send and receive arrays must not overlap. The order of received elements
  /// is deterministic. If a device fails on one rank, all ranks throw the error. InputError for a
  /// column without memory or without an element size, and for a plan of other ranks.
  void exchange(const Exec& exec, const ExchangePlan& plan,
                const std::vector<ColumnMove>& columns) const;
  template <class T>
  void exchange(const Exec& exec, const ExchangePlan& plan, Span<const T> send,
                Span<T> receive) const {
    static_assert(std::is_trivially_copyable_v<T>);
    validate_sizes(plan, send.size(), receive.size());
    exchange(exec, plan, {{column_view(send), receive.data()}});
  }

  /// Makes a communicator of the ranks with the same colour. The ranks keep their order. InputError
  /// on all ranks if a colour is negative.
  Communicator split(int colour) const;
  /// Makes a communicator of the ranks on the same machine, which can share memory. The ranks keep
  /// their order.
  Communicator split_by_machine() const;

  /// Runs `work`, which may itself be collective. If it throws on any rank, all ranks throw the
  /// same error: that of the lowest rank that failed. The message has the number of that rank,
  /// unless all ranks failed alike. zhalo's errors keep their type, std::bad_alloc becomes
  /// OutOfMemory, and other exceptions become zhalo::Error. May be nested.
  void together(const std::function<void()>& work) const;

 private:
  friend class PartExchange;
  friend class LinkedRanks;
  friend MPI_Comm mpi_handle(const Communicator& comm);
  friend const Communicator& machine_of(const Communicator& comm);
  friend Communicator make_communicator(std::unique_ptr<Network> network,
                                        const CommunicatorOptions& options);
  struct State;
  /// Collective.
  Communicator(std::unique_ptr<Network> network, const CommunicatorOptions& options);
  /// Asks whether all ranks have reached this operation. Returns whether the operation itself may
  /// still fail on some rank.
  bool enter(const char* operation, bool may_fail = false) const;
  /// Before the first exchange: tests MPI's claim that it takes addresses of devices. If the test
  /// fails, messages are staged. Collective.
  void probe_gpu_aware(const Exec& exec) const;
  /// InputError unless arrays have so many elements as the plan moves.
  static void validate_sizes(const ExchangePlan& plan, Index num_sent, Index num_received);
  struct Messages;
  void exchange_by_network(const Exec& exec, const Messages& messages) const;
  void tell_others(const Failure& failure) const;
  Communicator make_part(std::unique_ptr<Network> part) const;
  void all_gather_bytes(const void* record, void* all, std::size_t bytes) const;
  template <class T>
  T reduce(T value, RankReduction reduction, const char* operation) const;
  enum class Prefix { no, yes };
  void reduce_in_place(Span<Index> values, Prefix prefix, const char* operation) const;

  std::shared_ptr<State> state_;  ///< null for one rank by itself
  int rank_ = 0;
  int size_ = 1;
};

/// together() for work that returns a value.
template <class Work>
auto together(const Communicator& comm, const Work& work) -> decltype(work()) {
  std::optional<decltype(work())> result;
  comm.together([&] { result.emplace(work()); });
  return std::move(*result);
}

/// The contiguous part [first, first + count) of some items that one rank has.
struct Share {
  Index first = 0;
  Index count = 0;
};
/// Divides `total` items among `size` ranks and returns the part of `rank`. Parts differ by at most
/// one item.
Share share_of(Index total, int rank, int size);
/// The rank whose part contains item number `item` of `total`.
int owner_of(Index item, Index total, int size);

}  // namespace zhalo
