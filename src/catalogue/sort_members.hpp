/// A rank's particles that belong to groups, group by group.
#pragma once

#include "zhalo/core/buffer.hpp"

namespace zhalo {

struct SortedMembers {
  Buffer<std::uint64_t> group;  ///< of each member, ascending
  Buffer<LocalIndex> place;     ///< of each member, ascending in each group
};

/// Leaves out those with no_group; the others' groups have at most `bits` bits.
SortedMembers sort_members(const Exec& exec, Span<const Index> group_of, int bits);

}  // namespace zhalo
