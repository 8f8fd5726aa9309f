/// From labels to groups and their members, in the order of the catalogue.
#pragma once

#include <memory>
#include <vector>

#include "kernels/catalogue.hpp"
#include "kernels/on.hpp"
#include "kernels/particles.hpp"
#include "src/domain/redistribution.hpp"
#include "zhalo/comm/context.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/fof/fof.hpp"

namespace zhalo {

// Groups (group_order.cpp).

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

// Members (members.cpp).

/// How members are told apart: by group, then by species.
struct MemberKeys {
  Index num_groups = 0;                    ///< over all ranks, or labels
  std::vector<Index> first_of_species{0};  ///< index of the first particle of each on this rank

  Index num_members = kernels::not_known;  ///< on this rank

  int num_species() const { return static_cast<int>(first_of_species.size()); }
  int bits() const;
};

/// Members on this rank.
struct SortedMembers {
  Buffer<std::uint64_t>
      key;                   ///< of each, ascending: group times the number of species plus species
  Buffer<LocalIndex> index;  ///< of each, ascending where keys are equal
};

/// Leaves out those with no_group. Not collective.
SortedMembers sort_members(const Exec& exec, Span<const Index> group_of, const MemberKeys& keys);

/// From the particles' order to group order: by key, then by rank and index, in even parts over the
/// ranks. Its `sent` are the members' indices. Collective.
std::shared_ptr<const Redistribution> make_group_order(const Context& context,
                                                       SortedMembers& members, int bits);

/// Elements of a column, by their indices.
template <class T>
Buffer<T> gathered(const Exec& exec, Span<const T> column, Span<const LocalIndex> at) {
  Buffer<T> result(exec, at.size(), "chosen elements");
  kernels::on(exec,
              [&](const auto& e) { kernels::gather(e, column_view(column), at, result.data()); });
  return result;
}

}  // namespace zhalo
