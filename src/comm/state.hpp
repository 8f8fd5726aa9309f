/// What a Communicator of several ranks holds, links between devices, and waiting with a limit.
#pragma once

#include <mpi.h>
#include <sched.h>
#include <algorithm>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "kernels/nccl.hpp"
#include "src/comm/network.hpp"
#include "zhalo/comm/communicator.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo {

// Direct messages between the devices of ranks.

/// What a Communicator knows of links between the ranks' devices.
struct DeviceLink {
  bool is_decided = false;                  ///< whether there is to be one
  std::unique_ptr<kernels::NcclLink> nccl;  ///< none: messages go by MPI
  std::string why_not;                      ///< if there is none

  /// Whether this rank's arrays in memory of `exec` can travel by it.
  bool serves(const Exec& exec) const {
    const auto* cuda = std::get_if<Cuda>(&exec);
    return nccl != nullptr && cuda != nullptr && cuda->device == nccl->device();
  }
  /// The same, and that all arrays are in its device's memory.
  bool serves(const Exec& exec, const kernels::MessageGroup& group) const;
};

/// The ranks of a communicator, and the links between their devices. MPI carries agreements and
/// notes of failures, NCCL the bytes of devices alone.
class LinkedRanks {
 public:
  /// `comm` must have several ranks, and outlive it.
  explicit LinkedRanks(const Communicator& comm) : comm_(comm) {}

  /// Decides whether there are to be links, if some rank computes on a device, and makes them.
  /// Collective.
  void decide(const Exec& exec) const;
  /// Sends and receives. False if messages must go by MPI: some rank's arrays are not on its linked
  /// device, or NCCL failed, and was given up. Collective.
  bool exchange(const Exec& exec, const kernels::MessageGroup& group) const;

  /// Waits until `is_done` on this rank, or until something fails on any rank. Returns what failed
  /// first, the same on all ranks; empty: nothing. `error`: what has failed on this rank already.
  /// Collective.
  std::string agree_on_outcome(std::string error, const std::function<bool()>& is_done) const;
  /// Waits on this rank alone. Returns what failed on this rank, or that another one failed.
  std::string wait(const std::function<bool()>& is_done) const;
  /// agree_on_outcome(), and give_up() if something failed. CommunicationError on all ranks if some
  /// rank's device goes on with it all the same.
  std::string agree_or_give_up(const std::string& error,
                               const std::function<bool()>& is_done) const;
  /// From now on messages go by MPI. On all ranks. Returns whether this rank's device has ended
  /// what was under way.
  bool give_up(const std::string& why) const;

 private:
  /// The longest wait for NCCL; 0: no limit. Half of what others wait: they are in the agreement
  /// behind it, and must hear of a failure.
  double max_wait_seconds() const;
  void make_links(const Exec& exec) const;

  const Communicator& comm_;
};

// A communicator, its making, and its state.

/// The duplicate itself, for collective calls of other libraries, in which ranks wait without
/// limit. MPI_COMM_NULL without MPI.
MPI_Comm mpi_handle(const Communicator& comm);

/// The ranks of this machine: split_by_machine(), made once and kept, since each split costs all
/// ranks. Collective.
const Communicator& machine_of(const Communicator& comm);

/// A communicator of these ranks. Collective.
Communicator make_communicator(std::unique_ptr<Network> network,
                               const CommunicatorOptions& options);

/// fair_threads() of the rank that may run on the cores `mine`; `all` are the sets of all ranks of
/// the machine, `mine` among them.
int fair_threads_of(const cpu_set_t& mine, const std::vector<cpu_set_t>& all);

/// Whether all ranks of a communicator throw this error.
bool is_agreed(const std::exception& error);

/// What the user says, in the options or in the environment.
Transport chosen_transport(Transport transport);

/// The limit on waits, in seconds. InputError if ZHALO_TIMEOUT is no number.
double timeout_of(const CommunicatorOptions& options);

struct Communicator::State {
  std::unique_ptr<Network> network;
  CommunicatorOptions options;
  bool gpu_aware = false;
  bool gpu_aware_is_claimed = false;  ///< by MPI, and was not tried yet
  Buffer<Index> probe_room;           ///< of the trial; afterwards only where MPI may still read it
  bool has_lost_messages = false;     ///< of the trial, which nobody will take
  DeviceLink link;
  Index bytes_sent = 0;
  /// Of a part: the ranks' numbers among all, by which users know them. Else empty.
  std::vector<int> names;
  int name_of(int rank) const {
    return names.empty() ? rank : names[static_cast<std::size_t>(rank)];
  }
  /// A wait ran into the timeout: messages are under way that nobody will take, nothing can be
  /// agreed on any more.
  bool broken = false;
  const char* entered = nullptr;          ///< the operation before which the ranks agree on errors
  bool memory_is_lost = false;            ///< broken, and MPI may still write what it was given
  std::unique_ptr<Communicator> machine;  ///< see machine_of()
  std::shared_ptr<MemoryPool> staging;    ///< of messages of host memory
  /// Page-locked, of messages of the memory of a device, by its number.
  std::map<int, std::shared_ptr<MemoryPool>> pinned_staging;

  State() = default;
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  /// Nothing can be agreed on from now on. `why`: what other ranks say that can be told.
  void give_up(const std::string& why) noexcept;
  /// The same for messages under way between arrays in memory of `exec`: if MPI may still use the
  /// arrays, that memory is not used again.
  void give_up(const std::string& why, const Exec& exec) noexcept;
  /// Throws CommunicationError if an earlier wait was given up, or MPI is finalised.
  void need_whole(const char* operation) const;
  /// Looks again and again until `look()` says that all is done; CommunicationError after the
  /// timeout without progress.
  enum class Seen { nothing, progress, all };
  void wait_until(const char* operation, const std::function<Seen()>& look);
  /// Calls the network: a failure leaves the others in what they do.
  template <class Call>
  auto call(const char* operation, const Call& work) -> decltype(work()) {
    try {
      return work();
    } catch (const CommunicationError& error) {
      fail(operation, error);
    } catch (const std::bad_alloc&) {
      give_up("another rank ran out of memory");
      throw;
    }
  }
  [[noreturn]] void fail(const char* operation, const CommunicationError& error);
  void wait(NetworkRequest& request, const char* operation);
  /// Starts what `start()` starts, and waits for it.
  template <class Start>
  void finish(const char* operation, const Start& start) {
    const std::unique_ptr<NetworkRequest> request = call(operation, start);
    wait(*request, operation);
  }
  /// Memory to stage messages of `exec` in, or none if they travel directly.
  std::shared_ptr<MemoryPool> staging_for(const Exec& exec);
};

/// Memory that MPI reads and writes. When a wait was given up, MPI may still do so: then it is
/// never freed.
template <class T>
class Wire {
 public:
  template <class S>
  Wire(const S& state, std::size_t size)
      : is_lost_(state.memory_is_lost), size_(size), values_(new T[size]) {}
  template <class S>
  Wire(const S& state, Span<const T> values)
      : Wire(state, static_cast<std::size_t>(values.size())) {
    std::copy(values.begin(), values.end(), values_);
  }
  ~Wire() {
    if (!is_lost_) delete[] values_;
  }
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  T* data() { return values_; }
  Span<T> span() { return {values_, static_cast<Index>(size_)}; }
  T& operator[](std::size_t i) { return values_[i]; }

 private:
  const bool& is_lost_;
  std::size_t size_;
  T* values_;
};

}  // namespace zhalo
