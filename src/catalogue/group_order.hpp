/// From labels to groups, in the order of the catalogue.
#pragma once

#include <vector>

#include "zhalo/comm/context.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/fof/fof.hpp"

namespace zhalo {

/// Groups in one order over all ranks: longer first, then smaller label. This rank has the rows
/// share_of(num_total, rank, size).
struct GroupOrder {
  Index num_total = 0;
  std::vector<Index> length;
  std::vector<Index> label;
  /// Row of each particle of this rank, or no_group.
  Buffer<Index> group_of;
};

/// Of this rank.
struct LabelledMembers {
  Span<const Index> label;  ///< or no_group
  /// On all ranks if only some count for the smallest group: 1 for each of these, else 0.
  Span<const LocalIndex> marks;
  /// On all ranks, or null: the parts of groups on this rank.
  const LinkedParts* parts = nullptr;
};

struct GroupLimits {
  Index num_particles = 0;   ///< over all ranks: labels are below
  Index min_members = 1;     ///< that count
  bool only_marked = false;  ///< whether only marked particles count
};

/// Collective. Memory is proportional to this rank's particles, whatever the groups are.
GroupOrder order_groups(const Context& context, const LabelledMembers& particles,
                        const GroupLimits& limits);

}  // namespace zhalo
