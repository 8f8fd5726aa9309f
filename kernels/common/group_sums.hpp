/// Sums over the members of groups. Each group is cut into blocks of members; a block's sum is taken in order, then the blocks' sums in
/// order: equal results for any number of threads, and a large group is shared out.
#pragma once

#include "kernels/common/prefetch.hpp"
#include "kernels/views.hpp"
#include "zhalo/core/buffer.hpp"

namespace zhalo::kernels {

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

struct CountBlocks {
  Span<const Index> offset;
  Span<Index> num_blocks;

  /// One more than there are groups, so that the scan ends with the total.
  ZHALO_HD void operator()(Index g) const {
    const bool any = g + 1 < offset.size();
    num_blocks[g] = any ? (offset[g + 1] - offset[g] + members_per_block - 1) / members_per_block : 0;
  }
};

struct NameBlocks {
  Span<const Index> first_block;
  Span<LocalIndex> group;

  ZHALO_HD void operator()(Index g) const {
    for (Index b = first_block[g]; b < first_block[g + 1]; ++b) group[b] = static_cast<LocalIndex>(g);
  }
};

/// Owns what BlocksView shows.
struct Blocks {
  Buffer<Index> first_block;
  Buffer<LocalIndex> group;

  BlocksView view(Span<const Index> offset) const { return {offset, first_block.span(), group.span()}; }
};

template <class E>
Blocks make_blocks(const E& exec, Span<const Index> offset) {
  Blocks blocks;
  blocks.first_block = Buffer<Index>(exec, offset.size(), "blocks of group members");
  for_each(exec, offset.size(), CountBlocks{offset, blocks.first_block.span()});
  const Index num_blocks = exclusive_scan(exec, blocks.first_block.span());
  blocks.group = Buffer<LocalIndex>(exec, num_blocks, "blocks of group members");
  for_each(exec, offset.size() - 1, NameBlocks{blocks.first_block.span(), blocks.group.span()});
  return blocks;
}

/// What the first look at all members adds up: positions relative to the group's first member, at its nearest image.
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

/// A member as the sums want it.
template <class Real>
struct MemberReader {
  MembersView<Real> members;

  ZHALO_HD Place<Real> place(Index m) const { return members.particles[members.member[m]]; }

  /// Members of a group lie anywhere in the caller's order.
  ZHALO_HD void prefetch_after(Index m) const {
    if (m + prefetch_distance >= members.member.size()) return;
    const Place<Real> p = place(m + prefetch_distance);
    prefetch_line(&p.segment.pos[0][p.row]);
  }

  ZHALO_HD double mass(const Place<Real>& p) const {
    return p.segment.mass ? p.segment.mass[p.row] : members.particles.uniform_mass;
  }

  ZHALO_HD Vec3d pos(const Place<Real>& p) const {
    Vec3d x;
    for (int axis = 0; axis < members.particles.dimensions; ++axis) {
      x[axis] = static_cast<double>(members.frame.wrapped(p.segment.pos[axis][p.row], axis));
    }
    return x;
  }

  ZHALO_HD Vec3d velocity(const Place<Real>& p) const {
    Vec3d v;
    for (int axis = 0; axis < members.particles.dimensions; ++axis) {
      if (p.segment.velocity[axis]) v[axis] = p.segment.velocity[axis][p.row];
    }
    return v;
  }

  /// From `origin` to the nearest image of x.
  ZHALO_HD Vec3d relative(Vec3d x, const Vec3d& origin) const {
    const Box& box = members.frame.box;
    x -= origin;
    for (int axis = 0; axis < 3; ++axis) {
      if (!box.periodic[axis]) continue;
      if (x[axis] > box.length[axis] / 2) x[axis] -= box.length[axis];
      if (x[axis] < -box.length[axis] / 2) x[axis] += box.length[axis];
    }
    return x;
  }
};

template <class Real>
struct SumMoments : MemberReader<Real> {
  static constexpr bool long_elements = true;
  BlocksView blocks;
  Span<Moments> sums;

  ZHALO_HD void operator()(Index block) const {
    const Vec3d origin = this->pos(this->place(blocks.offset[blocks.group[block]]));
    Moments sum;
    for (Index m = blocks.begin(block); m < blocks.end(block); ++m) {
      this->prefetch_after(m);
      const Place<Real> p = this->place(m);
      const double mass = this->mass(p);
      sum += {mass, this->relative(this->pos(p), origin) * mass, this->velocity(p) * mass};
    }
    sums[block] = sum;
  }
};

template <class Real>
struct SumSpreads : MemberReader<Real> {
  static constexpr bool long_elements = true;
  BlocksView blocks;
  Span<const GroupRow> rows;
  Span<Spreads> sums;

  ZHALO_HD static double square(const Vec3d& v) { return v[0] * v[0] + v[1] * v[1] + v[2] * v[2]; }

  ZHALO_HD void operator()(Index block) const {
    const GroupRow& row = rows[blocks.group[block]];
    Spreads sum;
    for (Index m = blocks.begin(block); m < blocks.end(block); ++m) {
      this->prefetch_after(m);
      const Place<Real> p = this->place(m);
      const double mass = this->mass(p);
      const double pos2 = square(this->relative(this->pos(p), row.centre));
      sum += {mass * square(this->velocity(p) - row.velocity), mass * pos2, pos2};
    }
    sums[block] = sum;
  }
};

template <class Sum>
ZHALO_HD Sum sum_of_blocks(const BlocksView& blocks, Span<const Sum> sums, Index g) {
  Sum sum;
  for (Index b = blocks.first_block[g]; b < blocks.first_block[g + 1]; ++b) sum += sums[b];
  return sum;
}

template <class Real>
struct FinishMoments : MemberReader<Real> {
  BlocksView blocks;
  Span<const Moments> sums;
  Span<GroupRow> rows;

  ZHALO_HD void operator()(Index g) const {
    const Moments sum = sum_of_blocks(blocks, sums, g);
    const Vec3d origin = this->pos(this->place(blocks.offset[g]));
    GroupRow& row = rows[g];
    row.mass = sum.mass;
    for (int axis = 0; axis < 3; ++axis) {
      row.centre[axis] = this->members.frame.wrapped(origin[axis] + sum.pos[axis] / sum.mass, axis);
      row.velocity[axis] = sum.velocity[axis] / sum.mass;
    }
  }
};

struct FinishSpreads {
  BlocksView blocks;
  Span<const Spreads> sums;
  int dimensions;
  Span<GroupRow> rows;

  ZHALO_HD void operator()(Index g) const {
    const Spreads sum = sum_of_blocks(blocks, sums, g);
    GroupRow& row = rows[g];
    row.velocity_dispersion = sqrt(sum.velocity2 / (row.mass * dimensions));
    row.inertia_radius = sqrt(sum.pos2 / row.mass);
    row.extent_radius = sqrt(sum.largest_pos2);
  }
};

template <class E, class Real>
void sum_groups(const E& exec, const MembersView<Real>& members, Span<GroupRow> rows) {
  const Blocks owned = make_blocks(exec, members.offset);
  const BlocksView blocks = owned.view(members.offset);
  const Index num_blocks = blocks.group.size();
  {
    Buffer<Moments> sums(exec, num_blocks, "sums over groups");
    for_each(exec, num_blocks, SumMoments<Real>{{members}, blocks, sums.span()});
    for_each(exec, rows.size(), FinishMoments<Real>{{members}, blocks, sums.span(), rows});
  }
  Buffer<Spreads> sums(exec, num_blocks, "sums over groups");
  for_each(exec, num_blocks, SumSpreads<Real>{{members}, blocks, rows, sums.span()});
  for_each(exec, rows.size(), FinishSpreads{blocks, sums.span(), members.particles.dimensions, rows});
}

/// Members and mass of each type in one block.
template <class Real>
struct SumTypes : MemberReader<Real> {
  static constexpr bool long_elements = true;
  BlocksView blocks;
  TypeSums sums;  ///< [block][type]

  ZHALO_HD void operator()(Index block) const {
    const Index first = block * sums.num_types;
    for (int t = 0; t < sums.num_types; ++t) {
      sums.length[first + t] = 0;
      sums.mass[first + t] = 0;
    }
    for (Index m = blocks.begin(block); m < blocks.end(block); ++m) {
      const Place<Real> p = this->place(m);
      const Index type = p.segment.type ? p.segment.type[p.row] : 0;
      sums.length[first + type] += 1;
      sums.mass[first + type] += this->mass(p);
    }
  }
};

struct FinishTypes {
  BlocksView blocks;
  TypeSums of_blocks;
  TypeSums of_groups;  ///< [group][type]

  ZHALO_HD void operator()(Index at) const {
    const Index g = at / of_groups.num_types;
    const Index type = at % of_groups.num_types;
    Index length = 0;
    double mass = 0;
    for (Index b = blocks.first_block[g]; b < blocks.first_block[g + 1]; ++b) {
      length += of_blocks.length[b * of_groups.num_types + type];
      mass += of_blocks.mass[b * of_groups.num_types + type];
    }
    of_groups.length[at] = length;
    of_groups.mass[at] = mass;
  }
};

template <class E, class Real>
void sum_types(const E& exec, const MembersView<Real>& members, const TypeSums& sums) {
  const Blocks owned = make_blocks(exec, members.offset);
  const BlocksView blocks = owned.view(members.offset);
  const Index num = blocks.group.size() * sums.num_types;
  Buffer<Index> length(exec, num, "sums over types");
  Buffer<double> mass(exec, num, "sums over types");
  const TypeSums of_blocks{sums.num_types, length.span(), mass.span()};
  for_each(exec, blocks.group.size(), SumTypes<Real>{{members}, blocks, of_blocks});
  for_each(exec, sums.length.size(), FinishTypes{blocks, of_blocks, sums});
}

}  // namespace zhalo::kernels
