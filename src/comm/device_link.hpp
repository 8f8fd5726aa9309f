/// Direct messages between the devices of ranks.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "kernels/nccl.hpp"
#include "zhalo/comm/communicator.hpp"

namespace zhalo {

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

}  // namespace zhalo
