/// Particles beyond the memory of devices: one error that says how many devices would do.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "zhalo/comm/context.hpp"

namespace zhalo {

/// Bytes that a rank would need beyond what is in use, if there were so many ranks with a device
/// each: such as knn_need(size, search).peak.
using NeedOfRanks = std::function<double(int num_ranks)>;

/// Looks after the memory of this rank's device while some work is done. On a host it does nothing.
///
/// Throws OutOfMemory before the work begins if nine tenths of what it needs are more than the
/// device has available. If an allocation fails while the object lives, its error has the same
/// remedy: the number of devices of this memory that would do. Scopes may be nested; the outermost
/// one gives the remedy. Not collective: make it inside Communicator::together, so that the error
/// is that of all ranks.
class DeviceMemoryScope {
 public:
  /// `work` begins the message: "friends of friends among 1000 particles".
  DeviceMemoryScope(const Context& context, const std::string& work, const NeedOfRanks& need);
  ~DeviceMemoryScope();
  DeviceMemoryScope(const DeviceMemoryScope&) = delete;
  DeviceMemoryScope& operator=(const DeviceMemoryScope&) = delete;

 private:
  std::shared_ptr<MemoryPool> pool_;  ///< whose remedy this object has set, or null
};

}  // namespace zhalo
