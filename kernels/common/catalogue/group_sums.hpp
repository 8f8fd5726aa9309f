/// Sums over the members of groups. Each part of a group is cut into blocks of members, so that a
/// large one is shared out among threads.
#pragma once

#include "kernels/catalogue.hpp"
#include "kernels/common/backend.hpp"

namespace zhalo::kernels {

struct CountBlocks {
  Span<const Index> offset;
  Span<Index> num_blocks;

  /// One more than there are parts, so that the scan ends with the total.
  ZHALO_HD void operator()(Index p) const {
    const bool any = p + 1 < offset.size();
    num_blocks[p] =
        any ? (offset[p + 1] - offset[p] + members_per_block - 1) / members_per_block : 0;
  }
};

struct NameBlocks {
  Span<const Index> first_block;
  Span<LocalIndex> part;

  ZHALO_HD void operator()(Index p) const {
    for (Index b = first_block[p]; b < first_block[p + 1]; ++b)
      part[b] = static_cast<LocalIndex>(p);
  }
};

template <class E>
MemberBlocks make_blocks(const E& exec, Span<const Index> offset, Index num_blocks) {
  MemberBlocks blocks;
  blocks.first_block = Buffer<Index>(exec, offset.size(), "blocks of group members");
  for_each(exec, offset.size(), CountBlocks{offset, blocks.first_block.span()});
  if (num_blocks == not_known) {
    num_blocks = exclusive_scan(exec, blocks.first_block.span());
  } else {
    queue_scan(exec, blocks.first_block.span());
  }
  blocks.part = Buffer<LocalIndex>(exec, num_blocks, "blocks of group members");
  for_each(exec, offset.size() - 1, NameBlocks{blocks.first_block.span(), blocks.part.span()});
  return blocks;
}

// ---------------------------------------------------------------- members

/// Stored particles as the sums want them.
template <class Real>
struct MemberReader {
  MembersView<Real> members;

  ZHALO_HD ParticleRow<Real> particle(Index m) const {
    return members.particles[members.member[m]];
  }

  ZHALO_HD void prefetch_after(Index m) const {
    if (m + prefetch_distance >= members.member.size()) return;
    const ParticleRow<Real> p = particle(m + prefetch_distance);
    prefetch_line(&p.segment.pos[0][p.row]);
  }

  ZHALO_HD double mass(const ParticleRow<Real>& p) const {
    const double mass = p.mass(members.particles.uniform_mass);
    return mass * members.halo.mass_to_unit;
  }

  ZHALO_HD Vec3d pos(const ParticleRow<Real>& p) const {
    Vec3d x;
    for (int axis = 0; axis < members.particles.dimensions; ++axis)
      x[axis] = static_cast<double>(p.segment.pos[axis][p.row]) * members.halo.coordinate_to_unit;
    return x;
  }

  ZHALO_HD Vec3d velocity(const ParticleRow<Real>& p) const {
    Vec3d v;
    for (int axis = 0; axis < members.particles.dimensions; ++axis) {
      v[axis] = p.segment.velocity[axis]
                    ? p.segment.velocity[axis][p.row] * members.halo.velocity_to_unit
                    : unknown;
    }
    return v;
  }

  ZHALO_HD HaloMember<double> member(Index m) const {
    const ParticleRow<Real> p = particle(m);
    const Vec3d x = pos(p);
    const Vec3d v = velocity(p);
    return {mass(p), {x[0], x[1], x[2]}, {v[0], v[1], v[2]}};
  }
};

template <class Real>
struct TakeFirst : MemberReader<Real> {
  Span<Vec3d> pos_of_parts;

  ZHALO_HD void operator()(Index p) const {
    pos_of_parts[p] = this->pos(this->particle(this->members.blocks.offset[p]));
  }
};

template <class E, class Real>
void first_positions(const E& exec, const MembersView<Real>& members, Span<Vec3d> pos) {
  for_each(exec, pos.size(), TakeFirst<Real>{{members}, pos});
}

// ---------------------------------------------------------------- sums of blocks, parts, groups

template <class Real, class SumType>
struct SumBlock : MemberReader<Real> {
  using Sum = SumType;
  static constexpr bool long_elements = true;
  Span<const HaloReference> about;
  Span<Sum> sums;

  ZHALO_HD void operator()(Index block) const { sums[block] = sum_of(block, 0, 1); }

  /// Over every step-th member of a block.
  ZHALO_HD Sum sum_of(Index block, Index first, Index step) const {
    const BlocksView& blocks = this->members.blocks;
    const HaloReference reference = about[blocks.part[block]];
    const double resolution = resolution_of(reference.length);
    Sum sum;
    const Index end = blocks.end(block);
    for (Index m = blocks.begin(block) + first; m < end; m += step) {
      this->prefetch_after(m);
      HaloMember<double> member = this->member(m);
      member.relate_to(reference, this->members.halo.period);
      sum.add(member, resolution);
    }
    return sum;
  }
};

template <class Sum>
struct AddParts {
  Span<const Index> offset;
  Span<const Sum> parts;
  Index width;
  Span<Sum> sums;

  ZHALO_HD void operator()(Index at) const {
    const Index group = at / width;
    const Index column = at % width;
    // Added up in memory: a sum has more words than a thread of a device has registers for two.
    sums[at] = {};
    for (Index p = offset[group]; p < offset[group + 1]; ++p) sums[at] += parts[p * width + column];
  }
};

template <class E, class Sum>
void add_parts(const E& exec, Span<const Index> offset, Span<const Sum> parts, Index width,
               Span<Sum> sums) {
  for_each(exec, sums.size(), AddParts<Sum>{offset, parts, width, sums});
}

template <class E, class Real, class Sum>
void sum_members(const E& exec, const MembersView<Real>& members, Span<const HaloReference> about,
                 Span<Sum> sums) {
  const Index num_blocks = members.blocks.part.size();
  if (num_blocks == sums.size()) {  // each part is one block
    return sum_blocks(exec, SumBlock<Real, Sum>{{members}, about, sums});
  }
  Buffer<Sum> of_blocks(exec, num_blocks, "sums over groups");
  sum_blocks(exec, SumBlock<Real, Sum>{{members}, about, of_blocks.span()});
  add_parts(exec, members.blocks.first_block, Span<const Sum>(of_blocks.span()), 1, sums);
}

/// Members and mass of each type in one block.
template <class Real>
struct SumTypes : MemberReader<Real> {
  static constexpr bool long_elements = true;
  Span<const HaloReference> about;
  Index num_types;
  Span<TypeSum> sums;  ///< [block][type]

  ZHALO_HD void operator()(Index block) const {
    const BlocksView& blocks = this->members.blocks;
    const double resolution = resolution_of(about[blocks.part[block]].length);
    for (Index t = 0; t < num_types; ++t) sums[block * num_types + t] = {};
    for (Index m = blocks.begin(block); m < blocks.end(block); ++m) {
      const ParticleRow<Real> p = this->particle(m);
      const Index type = p.type();
      TypeSum& sum = sums[block * num_types + type];
      sum.length += 1;
      sum.mass.add(this->mass(p), resolution);
    }
  }
};

template <class E, class Real>
void sum_types(const E& exec, const MembersView<Real>& members, Span<const HaloReference> about,
               int num_types, Span<TypeSum> sums) {
  const Index num_blocks = members.blocks.part.size();
  Buffer<TypeSum> of_blocks(exec, num_blocks * num_types, "sums over types");
  for_each(exec, num_blocks, SumTypes<Real>{{members}, about, num_types, of_blocks.span()});
  add_parts(exec, members.blocks.first_block, Span<const TypeSum>(of_blocks.span()), num_types,
            sums);
}

// ---------------------------------------------------------------- groups

struct FindRow {
  std::uint64_t num_species;
  Span<std::uint64_t> keys;

  ZHALO_HD void operator()(Index i) const { keys[i] /= num_species; }
};

template <class E>
void find_rows(const E& exec, int num_species, Span<std::uint64_t> keys) {
  for_each(exec, keys.size(), FindRow{static_cast<std::uint64_t>(num_species), keys});
}

struct MakeOffset {
  Span<const LocalIndex> start;
  Index total;
  Span<Index> offset;

  ZHALO_HD void operator()(Index i) const { offset[i] = i < start.size() ? start[i] : total; }
};

template <class E>
void make_offsets(const E& exec, Span<const LocalIndex> start, Index total, Span<Index> offset) {
  for_each(exec, offset.size(), MakeOffset{start, total, offset});
}

struct MakeReference {
  Span<const Index> offset;
  Span<const Vec3d> pos_of_parts;
  Span<const Index> length;
  Span<HaloReference> references;

  ZHALO_HD void operator()(Index g) const {
    references[g] = {pos_of_parts[offset[g]], {}, length[g]};
  }
};

template <class E>
void make_references(const E& exec, Span<const Index> offset, Span<const Vec3d> pos_of_parts,
                     Span<const Index> length, Span<HaloReference> references) {
  for_each(exec, references.size(), MakeReference{offset, pos_of_parts, length, references});
}

struct SpreadReference {
  Span<const Index> offset;
  Span<const HaloReference> of_groups;
  Span<HaloReference> of_parts;

  ZHALO_HD void operator()(Index g) const {
    for (Index p = offset[g]; p < offset[g + 1]; ++p) of_parts[p] = of_groups[g];
  }
};

template <class E>
void spread_references(const E& exec, Span<const Index> offset, Span<const HaloReference> of_groups,
                       Span<HaloReference> of_parts) {
  for_each(exec, of_groups.size(), SpreadReference{offset, of_groups, of_parts});
}

template <class Sum>
struct FinishSum {
  HaloFrame halo;
  Span<const Sum> sums;
  Span<HaloReference> about;
  Span<HaloProperties> properties;

  ZHALO_HD void operator()(Index g) const { sums[g].finish(halo, about[g], properties[g]); }
};

template <class E, class Sum>
void finish_sums(const E& exec, const HaloFrame& halo, Span<const Sum> sums,
                 Span<HaloReference> about, Span<HaloProperties> properties) {
  for_each(exec, sums.size(), FinishSum<Sum>{halo, sums, about, properties});
}

ZHALO_INSTANTIATE(make_blocks);
ZHALO_INSTANTIATE_REALS(first_positions);
ZHALO_INSTANTIATE(sum_members, float, Moments);
ZHALO_INSTANTIATE(sum_members, double, Moments);
ZHALO_INSTANTIATE(sum_members, float, Spreads);
ZHALO_INSTANTIATE(sum_members, double, Spreads);
ZHALO_INSTANTIATE_REALS(sum_types);
ZHALO_INSTANTIATE(find_rows);
ZHALO_INSTANTIATE(make_offsets);
ZHALO_INSTANTIATE(add_parts, Moments);
ZHALO_INSTANTIATE(add_parts, Spreads);
ZHALO_INSTANTIATE(add_parts, TypeSum);
ZHALO_INSTANTIATE(make_references);
ZHALO_INSTANTIATE(spread_references);
ZHALO_INSTANTIATE(finish_sums, Moments);
ZHALO_INSTANTIATE(finish_sums, Spreads);

}  // namespace zhalo::kernels
