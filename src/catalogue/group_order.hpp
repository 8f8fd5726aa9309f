/// From labels to groups in their order.
#pragma once

#include <vector>

#include "zhalo/comm/context.hpp"
#include "zhalo/core/buffer.hpp"

namespace zhalo {

/// Groups in one order over all ranks: longer first, then smaller label. This rank has the rows share_of(num_total, rank, size).
struct GroupOrder {
  Index num_total = 0;
  std::vector<Index> length;
  std::vector<Index> label;
  /// Row of each particle of this rank, in the caller's order, or no_group.
  Buffer<Index> group_of;
};

struct GroupLimits {
  Index num_particles = 0;  ///< over all ranks: labels are below
  Index min_members = 1;
};

/// Collective. Memory is proportional to this rank's particles, whatever the groups are.
GroupOrder order_groups(const Context& context, Span<const Index> label, const GroupLimits& limits);

}  // namespace zhalo
