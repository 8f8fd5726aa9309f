/// Memory that the ranks of a machine read and write together.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "zhalo/comm/communicator.hpp"

namespace zhalo {

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

 private:
  struct Part {
    int rank = 0;
    std::shared_ptr<std::byte> memory;
  };
  std::vector<Part> parts_;
  std::string why_not_;
};

}  // namespace zhalo
