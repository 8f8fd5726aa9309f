/// What a Communicator of several ranks holds, and waiting with a limit.
#pragma once

#include <mpi.h>

#include <map>
#include <memory>
#include <vector>

#include "src/comm/device_link.hpp"
#include "zhalo/comm/communicator.hpp"
#include "zhalo/core/buffer.hpp"

namespace zhalo {

/// Whether the library says that it takes them. One of gpu_query_*.cpp is built: the one for the
/// library at hand.
bool mpi_says_gpu_aware();

/// Throws CommunicationError with MPI's own words unless the code is MPI_SUCCESS.
void check_mpi(int code, const char* operation);

/// The duplicate itself, for collective calls of other libraries, in which ranks wait without
/// limit. MPI_COMM_NULL without MPI.
MPI_Comm mpi_handle(const Communicator& comm);

struct Communicator::State {
  MPI_Comm comm = MPI_COMM_NULL;
  CommunicatorOptions options;
  bool gpu_aware = false;
  bool gpu_aware_is_claimed = false;  ///< by MPI, and was not tried yet
  Buffer<Index> probe_room;           ///< of the trial; afterwards only where MPI may still read it
  bool has_lost_messages = false;     ///< of the trial, which nobody will take
  DeviceLink link;
  int node_rank = 0;
  int node_size = 1;
  Index bytes_sent = 0;
  /// Of a part: the ranks' numbers among all, by which users know them. Else empty.
  std::vector<int> names;
  int name_of(int rank) const {
    return names.empty() ? rank : names[static_cast<std::size_t>(rank)];
  }
  /// A wait ran into the timeout: messages are under way that nobody will take, nothing can be
  /// agreed on any more.
  bool broken = false;
  std::shared_ptr<MemoryPool> staging;  ///< of messages of host memory
  /// Page-locked, of messages of the memory of a device, by its number.
  std::map<int, std::shared_ptr<MemoryPool>> pinned_staging;

  State() = default;
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  /// Throws CommunicationError if an earlier wait was given up.
  void need_whole(const char* operation) const;
  /// Looks again and again until `look()` says that all is done; CommunicationError after the
  /// timeout without progress.
  enum class Seen { nothing, progress, all };
  void wait_until(const char* operation, const std::function<Seen()>& look);
  /// check_mpi for the start of an operation: a failure leaves the others in it.
  void check(int code, const char* operation);
  void wait(MPI_Request& request, const char* operation);
  /// Memory to stage messages of `exec` in, or none if they travel directly.
  std::shared_ptr<MemoryPool> staging_for(const Exec& exec);
};

/// Memory that MPI reads and writes. When a wait was given up, MPI may still do so: then it is
/// never freed.
template <class T>
class Wire {
 public:
  Wire(const bool& broken, std::size_t size) : broken_(broken), values_(new T[size]) {}
  ~Wire() {
    if (!broken_) delete[] values_;
  }
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  T* data() { return values_; }
  T& operator[](std::size_t i) { return values_[i]; }

 private:
  const bool& broken_;
  T* values_;
};

}  // namespace zhalo
