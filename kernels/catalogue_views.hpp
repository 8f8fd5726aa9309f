/// The views of the catalogue: see kernels/views.hpp.
#pragma once

#include "kernels/views.hpp"

namespace zhalo::kernels {

/// Labels of a rank's particles in the caller's order; no_group where a particle belongs to none.
struct LabelsView {
  Span<const Index> label;
  Index first_index = 0;  ///< global index of this rank's first particle

  /// The labels of one rank that works alone are indices of its own particles.
  ZHALO_HD Index root(Index i) const { return label[i] - first_index; }
  ZHALO_HD bool has_group(Index i) const { return label[i] != no_group; }
};

/// Some of the types that a column of std::uint8_t can hold.
struct TypeSet {
  std::uint64_t words[4] = {};

  ZHALO_HD bool has(int type) const { return (words[type / 64] >> (type % 64) & 1) != 0; }
  void add(int type) { words[type / 64] |= std::uint64_t{1} << (type % 64); }

  friend bool operator==(const TypeSet&, const TypeSet&) = default;
};

/// Sorted elements, seen as runs of equal keys.
struct RunsView {
  Span<const LocalIndex> order;  ///< former place of each element
  Span<const LocalIndex> start;  ///< first element of each run

  ZHALO_HD Index end(Index run) const {
    return run + 1 < start.size() ? Index{start[run + 1]} : order.size();
  }
};

/// Columns of chosen particles, one behind the other; those without memory are left out.
template <class Real>
struct PackedColumns {
  Span<Real> pos;  ///< row by row, as are velocities
  Span<float> velocity_float;
  Span<double> velocity;
  Span<float> mass_float;
  Span<double> mass;
  Span<std::uint8_t> type;
};

/// A column of elements of any trivially copyable type.
struct ElementsView {
  const void* data = nullptr;
  Index element_size = 0;
  Index first_index = 0;  ///< global index of the first element
};

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

/// Per group (or block) and type, row by row.
struct TypeSums {
  int num_types = 1;
  Span<Index> length;
  Span<double> mass;
};

/// Mass and type columns, looked at before anything is summed. Indices are places on this rank.
struct ColumnSummary {
  Index num_bad_mass = 0;
  Index first_bad_mass = 0;
  Index num_bad_type = 0;
  Index first_bad_type = 0;
};

}  // namespace zhalo::kernels
