/// How bytes get from rank to rank: by MPI between processes, through memory between threads of one
/// process. Everything above it is the same for both: agreement on errors, waiting, exchanges.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <string>

#include "zhalo/core/exec.hpp"
#include "zhalo/core/span.hpp"
#include "zhalo/core/types.hpp"

namespace zhalo {

/// Something that was started between ranks. Its memory is the caller's and must stay until it is
/// done. The destructor gives up what is not done yet: then the communicator is of no use any more.
class NetworkRequest {
 public:
  NetworkRequest() = default;
  virtual ~NetworkRequest() = default;
  NetworkRequest(const NetworkRequest&) = delete;
  NetworkRequest& operator=(const NetworkRequest&) = delete;

  /// Looks after it; returns whether it is done. Not to be asked again after that. An exception
  /// that is no CommunicationError is about the memory of a device; then it counts as done, too.
  virtual bool is_done() = 0;
};

/// Bytes to or from another rank. Messages of a pair of ranks and a tag match in their order.
struct Parcel {
  void* data = nullptr;
  std::size_t bytes = 0;
  int peer = 0;
  int tag = 0;
  const Exec* exec = nullptr;  ///< whose memory it is; null: the host's
};

enum class RankReduction { sum, min, max };

/// One rank's end. No function waits for other ranks unless it says so. All ranks call the
/// collective ones in the same order. CommunicationError with the library's own words.
class Network {
 public:
  struct RankLayout {
    int rank = 0;
    int size = 1;
    int node_rank = 0;
    int node_size = 1;
  };

  Network() = default;
  virtual ~Network() = default;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  const RankLayout& layout() const { return layout_; }
  /// The same communicator of MPI; MPI_COMM_NULL without MPI.
  virtual MPI_Comm mpi_comm() const { return MPI_COMM_NULL; }
  /// Whether it may read and write memory of messages that were given up.
  virtual bool keeps_memory() const = 0;
  /// Whether the ranks are threads of one process.
  virtual bool is_of_threads() const = 0;
  /// Whether nothing can be sent any more, because MPI is finalised.
  virtual bool is_over() const { return false; }

  virtual std::unique_ptr<NetworkRequest> send(const Parcel& parcel) = 0;
  /// Done when the other rank receives it.
  virtual std::unique_ptr<NetworkRequest> send_synchronously(const Parcel& parcel) = 0;
  virtual std::unique_ptr<NetworkRequest> receive(const Parcel& parcel) = 0;
  /// A rank whose message with this tag has arrived and was not received yet.
  virtual std::optional<int> find_arrived(int tag) = 0;

  // Collective.
  virtual std::unique_ptr<NetworkRequest> barrier() = 0;
  virtual std::unique_ptr<NetworkRequest> reduce(Span<Index> in_place, RankReduction reduction) = 0;
  virtual std::unique_ptr<NetworkRequest> reduce(Span<double> in_place,
                                                 RankReduction reduction) = 0;
  /// Sums over lower ranks, 0 on rank 0. `room` is for twice as many numbers on their way.
  virtual std::unique_ptr<NetworkRequest> exclusive_sum(Span<Index> in_place, Span<Index> room) = 0;
  virtual std::unique_ptr<NetworkRequest> broadcast(Span<char> bytes, int root) = 0;
  /// `all` has the records in the order of ranks.
  virtual std::unique_ptr<NetworkRequest> all_gather(Span<const char> record, Span<char> all) = 0;
  virtual std::unique_ptr<NetworkRequest> all_to_all(Span<const Index> sent,
                                                     Span<Index> received) = 0;
  /// Waits for all ranks, which keep their order.
  virtual std::unique_ptr<Network> split(int colour) = 0;
  virtual std::unique_ptr<Network> split_by_machine() = 0;
  /// Of each rank of `part`, which comes from this network, the rank in this one.
  virtual std::vector<int> ranks_of(const Network& part) const = 0;

  /// This rank has left: others need not wait for it, where they can be told. `why`: what they are
  /// to say.
  virtual void give_up(const std::string& why) noexcept = 0;

 protected:
  void set_layout(const RankLayout& layout) { layout_ = layout; }

 private:
  RankLayout layout_;
};

/// InputError unless MPI is initialised, and not finalised.
void validate_mpi_runs();

/// Duplicates `parent`. Collective; waits without limit.
std::unique_ptr<Network> make_mpi_network(MPI_Comm parent);

}  // namespace zhalo
