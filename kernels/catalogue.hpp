/// From labels to groups in their order, their members, and sums over these.
///
/// Templates are defined in kernels/common/catalogue, for Host and Cuda, float and double.
#pragma once

#include "kernels/particles.hpp"
#include "zhalo/core/buffer.hpp"

namespace zhalo::kernels {

// ---------------------------------------------------------------- labels

/// Labels that are neither no_group nor in [0, num_total).
template <class E>
Index count_bad_labels(const E& exec, Span<const Index> label, Index num_total);

/// label[i] = candidate[i], or no_group where neighbour[i] is negative: there is none.
template <class E>
void take_labels(const E& exec, Span<const Index> neighbour, Span<const Index> candidate,
                 Span<Index> label);

// ---------------------------------------------------------------- groups of one rank

/// Labels of a rank's particles in the caller's order; no_group where a particle belongs to none.
struct LabelsView {
  Span<const Index> label;
  Index first_index = 0;  ///< global index of this rank's first particle

  /// The labels of one rank that works alone are indices of its own particles.
  ZHALO_HD Index root(Index i) const { return label[i] - first_index; }
  ZHALO_HD bool has_group(Index i) const { return label[i] != no_group; }
};

/// counts[root] = members of the root's group; 0 where no root is. With marks (1 or 0 for each
/// particle), the marked members.
template <class E>
void count_labels(const E& exec, const LabelsView& labels, Span<LocalIndex> counts);
template <class E>
void count_marked_labels(const E& exec, const LabelsView& labels, Span<const LocalIndex> marks,
                         Span<LocalIndex> counts);

/// Roots of the groups with at least `least` members, ascending.
template <class E>
Buffer<LocalIndex> select_groups(const E& exec, Span<const LocalIndex> counts, Index least);

/// Keys that sort groups by size, largest first.
template <class E>
void make_size_keys(const E& exec, Span<const LocalIndex> counts, Span<const LocalIndex> roots,
                    Span<std::uint64_t> keys);

/// Takes the lengths of the groups in the order of `roots`, then replaces the count at each root by
/// its row.
template <class E>
void number_rows(const E& exec, Span<const LocalIndex> roots, Span<LocalIndex> counts_to_rows,
                 Span<Index> length);

/// group_of[i] = row of particle i's group, or no_group.
template <class E>
void assign_groups(const E& exec, const LabelsView& labels, Span<const LocalIndex> rows,
                   Span<Index> group_of);

/// Places of the particles that belong to a group, ascending; and keys that sort them into group
/// order.
template <class E>
Buffer<LocalIndex> select_members(const E& exec, Span<const Index> group_of);
template <class E>
void make_member_keys(const E& exec, Span<const Index> group_of, Span<const LocalIndex> members,
                      Span<std::uint64_t> keys);

// ---------------------------------------------------------------- groups over ranks
//
// Labels, lengths and rows are sorted and seen as runs: see kernels/sort.hpp.

/// The places with at least that length; and keys that sort lengths, the longest first.
template <class E>
Buffer<LocalIndex> select_long(const E& exec, Span<const Index> lengths, Index least);
template <class E>
void make_length_keys(const E& exec, Span<const Index> lengths, Index longest,
                      Span<std::uint64_t> keys);

// ---------------------------------------------------------------- sums over members

/// Members of a group are summed by blocks.
inline constexpr Index members_per_block = 512;

/// The blocks of all groups, one behind the other.
struct BlocksView {
  Span<const Index> offset;       ///< first member of each group, and the end
  Span<const Index> first_block;  ///< of each group, and the end
  Span<const LocalIndex> group;   ///< of each block

  ZHALO_HD Index begin(Index block) const {
    const Index g = group[block];
    return offset[g] + (block - first_block[g]) * members_per_block;
  }
  ZHALO_HD Index end(Index block) const {
    const Index last = offset[Index{group[block]} + 1];
    const Index full = begin(block) + members_per_block;
    return full < last ? full : last;
  }
};

/// Members in group order.
template <class Real>
struct MembersView {
  ParticlesView<Real> particles;
  KeyFrame frame;                 ///< only its box is used
  Span<const LocalIndex> member;  ///< places among the particles
  BlocksView blocks;
};

/// Owns what BlocksView shows.
struct GroupBlocks {
  Buffer<Index> first_block;
  Buffer<LocalIndex> group;

  BlocksView view(Span<const Index> offset) const {
    return {offset, first_block.span(), group.span()};
  }
};
template <class E>
GroupBlocks make_blocks(const E& exec, Span<const Index> offset);

/// What the first look at all members adds up: positions relative to an origin, at their nearest
/// images.
struct Moments {
  double mass = 0;
  Vec3d pos;
  Vec3d velocity;

  ZHALO_HD Moments& operator+=(const Moments& other) {
    mass += other.mass;
    pos += other.pos;
    velocity += other.velocity;
    return *this;
  }
};

/// What the second look adds up, about the centre and the mean velocity.
struct Spreads {
  double velocity2 = 0;
  double pos2 = 0;
  double largest_pos2 = 0;

  ZHALO_HD Spreads& operator+=(const Spreads& other) {
    velocity2 += other.velocity2;
    pos2 += other.pos2;
    largest_pos2 = other.largest_pos2 > largest_pos2 ? other.largest_pos2 : largest_pos2;
    return *this;
  }
};

struct GroupRow {
  double mass;
  Vec3d centre;
  Vec3d velocity;
  double velocity_dispersion;
  double rms_radius;
  double max_radius;
};

/// Position of each group's first member.
template <class E, class Real>
void first_positions(const E& exec, const MembersView<Real>& members, Span<Vec3d> origin);

/// Sums of each group about its origin; and the columns that follow from them.
template <class E, class Real>
void sum_moments(const E& exec, const MembersView<Real>& members, Span<const Vec3d> origin,
                 Span<Moments> sums);
template <class E>
void finish_moments(const E& exec, const KeyFrame& frame, Span<const Vec3d> origin,
                    Span<const Moments> sums, Span<GroupRow> rows);

/// Sums of each group about its centre and its mean velocity; and the columns that follow from
/// them.
template <class E, class Real>
void sum_spreads(const E& exec, const MembersView<Real>& members, Span<const GroupRow> rows,
                 Span<Spreads> sums);
template <class E>
void finish_spreads(const E& exec, Span<const Spreads> sums, int dimensions, Span<GroupRow> rows);

/// Per group (or block) and type, row by row.
struct TypeSums {
  int num_types = 1;
  Span<Index> length;
  Span<double> mass;
};

/// Members and mass of each group and type.
template <class E, class Real>
void sum_types(const E& exec, const MembersView<Real>& members, const TypeSums& sums);

}  // namespace zhalo::kernels
