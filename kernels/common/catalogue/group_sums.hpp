/// Sums over the members of groups. Each group is cut into blocks of members; a block's sum is
/// taken in order, then the blocks' sums in order: equal results for any number of threads, and a
/// large group is shared out.
#pragma once

#include "kernels/catalogue.hpp"
#include "kernels/common/backend.hpp"

namespace zhalo::kernels {

struct CountBlocks {
  Span<const Index> offset;
  Span<Index> num_blocks;

  /// One more than there are groups, so that the scan ends with the total.
  ZHALO_HD void operator()(Index g) const {
    const bool any = g + 1 < offset.size();
    num_blocks[g] =
        any ? (offset[g + 1] - offset[g] + members_per_block - 1) / members_per_block : 0;
  }
};

struct NameBlocks {
  Span<const Index> first_block;
  Span<LocalIndex> group;

  ZHALO_HD void operator()(Index g) const {
    for (Index b = first_block[g]; b < first_block[g + 1]; ++b)
      group[b] = static_cast<LocalIndex>(g);
  }
};

template <class E>
GroupBlocks make_blocks(const E& exec, Span<const Index> offset) {
  GroupBlocks blocks;
  blocks.first_block = Buffer<Index>(exec, offset.size(), "blocks of group members");
  for_each(exec, offset.size(), CountBlocks{offset, blocks.first_block.span()});
  const Index num_blocks = exclusive_scan(exec, blocks.first_block.span());
  blocks.group = Buffer<LocalIndex>(exec, num_blocks, "blocks of group members");
  for_each(exec, offset.size() - 1, NameBlocks{blocks.first_block.span(), blocks.group.span()});
  return blocks;
}

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
struct TakeOrigin : MemberReader<Real> {
  Span<Vec3d> origin;

  ZHALO_HD void operator()(Index g) const {
    origin[g] = this->pos(this->place(this->members.blocks.offset[g]));
  }
};

template <class E, class Real>
void first_positions(const E& exec, const MembersView<Real>& members, Span<Vec3d> origin) {
  for_each(exec, origin.size(), TakeOrigin<Real>{{members}, origin});
}

template <class Real>
struct SumMoments : MemberReader<Real> {
  static constexpr bool long_elements = true;
  Span<const Vec3d> origin;
  Span<Moments> sums;

  ZHALO_HD void operator()(Index block) const {
    const BlocksView& blocks = this->members.blocks;
    const Vec3d from = origin[blocks.group[block]];
    Moments sum;
    for (Index m = blocks.begin(block); m < blocks.end(block); ++m) {
      this->prefetch_after(m);
      const Place<Real> p = this->place(m);
      const double mass = this->mass(p);
      sum += {mass, this->relative(this->pos(p), from) * mass, this->velocity(p) * mass};
    }
    sums[block] = sum;
  }
};

template <class Real>
struct SumSpreads : MemberReader<Real> {
  static constexpr bool long_elements = true;
  Span<const GroupRow> rows;
  Span<Spreads> sums;

  ZHALO_HD static double square(const Vec3d& v) { return v[0] * v[0] + v[1] * v[1] + v[2] * v[2]; }

  ZHALO_HD void operator()(Index block) const {
    const BlocksView& blocks = this->members.blocks;
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
struct AddBlocks {
  BlocksView blocks;
  Span<const Sum> of_blocks;
  Span<Sum> of_groups;

  ZHALO_HD void operator()(Index g) const {
    Sum sum;
    for (Index b = blocks.first_block[g]; b < blocks.first_block[g + 1]; ++b) sum += of_blocks[b];
    of_groups[g] = sum;
  }
};

template <class E, class Real>
void sum_moments(const E& exec, const MembersView<Real>& members, Span<const Vec3d> origin,
                 Span<Moments> sums) {
  Buffer<Moments> of_blocks(exec, members.blocks.group.size(), "sums over groups");
  for_each(exec, of_blocks.size(), SumMoments<Real>{{members}, origin, of_blocks.span()});
  for_each(exec, sums.size(), AddBlocks<Moments>{members.blocks, of_blocks.span(), sums});
}

template <class E, class Real>
void sum_spreads(const E& exec, const MembersView<Real>& members, Span<const GroupRow> rows,
                 Span<Spreads> sums) {
  Buffer<Spreads> of_blocks(exec, members.blocks.group.size(), "sums over groups");
  for_each(exec, of_blocks.size(), SumSpreads<Real>{{members}, rows, of_blocks.span()});
  for_each(exec, sums.size(), AddBlocks<Spreads>{members.blocks, of_blocks.span(), sums});
}

struct FinishMoments {
  KeyFrame frame;
  Span<const Vec3d> origin;
  Span<const Moments> sums;
  Span<GroupRow> rows;

  ZHALO_HD void operator()(Index g) const {
    const Moments sum = sums[g];
    GroupRow& row = rows[g];
    row.mass = sum.mass;
    for (int axis = 0; axis < 3; ++axis) {
      row.centre[axis] = frame.wrapped(origin[g][axis] + sum.pos[axis] / sum.mass, axis);
      row.velocity[axis] = sum.velocity[axis] / sum.mass;
    }
  }
};

template <class E>
void finish_moments(const E& exec, const KeyFrame& frame, Span<const Vec3d> origin,
                    Span<const Moments> sums, Span<GroupRow> rows) {
  for_each(exec, rows.size(), FinishMoments{frame, origin, sums, rows});
}

struct FinishSpreads {
  Span<const Spreads> sums;
  int dimensions;
  Span<GroupRow> rows;

  ZHALO_HD void operator()(Index g) const {
    const Spreads sum = sums[g];
    GroupRow& row = rows[g];
    row.velocity_dispersion = sqrt(sum.velocity2 / (row.mass * dimensions));
    row.rms_radius = sqrt(sum.pos2 / row.mass);
    row.max_radius = sqrt(sum.largest_pos2);
  }
};

template <class E>
void finish_spreads(const E& exec, Span<const Spreads> sums, int dimensions, Span<GroupRow> rows) {
  for_each(exec, rows.size(), FinishSpreads{sums, dimensions, rows});
}

/// Members and mass of each type in one block.
template <class Real>
struct SumTypes : MemberReader<Real> {
  static constexpr bool long_elements = true;
  TypeSums sums;  ///< [block][type]

  ZHALO_HD void operator()(Index block) const {
    const BlocksView& blocks = this->members.blocks;
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
  const Index num_blocks = members.blocks.group.size();
  Buffer<Index> length(exec, num_blocks * sums.num_types, "sums over types");
  Buffer<double> mass(exec, num_blocks * sums.num_types, "sums over types");
  const TypeSums of_blocks{sums.num_types, length.span(), mass.span()};
  for_each(exec, num_blocks, SumTypes<Real>{{members}, of_blocks});
  for_each(exec, sums.length.size(), FinishTypes{members.blocks, of_blocks, sums});
}

ZHALO_INSTANTIATE(make_blocks);
ZHALO_INSTANTIATE(finish_moments);
ZHALO_INSTANTIATE(finish_spreads);
ZHALO_INSTANTIATE_REALS(first_positions);
ZHALO_INSTANTIATE_REALS(sum_moments);
ZHALO_INSTANTIATE_REALS(sum_spreads);
ZHALO_INSTANTIATE_REALS(sum_types);

}  // namespace zhalo::kernels
