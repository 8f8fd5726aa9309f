/// From labels to groups in their order, and to members in group order.
#pragma once

#include "kernels/catalogue.hpp"
#include "kernels/common/arithmetic.hpp"
#include "kernels/common/backend.hpp"

namespace zhalo::kernels {

struct IsBadLabel {
  MemberLimits limits;

  ZHALO_HD Index operator()(Index i) const {
    return limits.label[i] < no_group || limits.label[i] >= limits.num_total ? 1 : 0;
  }
};

template <class Real>
struct IsBadMember {
  ParticlesView<Real> particles;
  MemberLimits limits;

  ZHALO_HD Index operator()(Index i) const {
    const ParticleRow<Real> p = particles[i];
    const bool is_bad = !is_mass(p.mass(particles.uniform_mass)) || p.type() >= limits.num_types;
    return is_bad ? 1 : IsBadLabel{limits}(i);
  }
};

struct Add {
  ZHALO_HD Index operator()(Index a, Index b) const { return a + b; }
};

template <class E, class Real>
void count_bad_members(const E& exec, const ParticlesView<Real>& particles,
                       const MemberLimits& limits, Index* num_bad) {
  queue_reduce(exec, limits.label.size(),
               MapReduce{Index{0}, IsBadMember<Real>{particles, limits}, Add{}}, num_bad);
}

template <class E>
void count_bad_labels(const E& exec, const MemberLimits& limits, Index* num_bad) {
  queue_reduce(exec, limits.label.size(), MapReduce{Index{0}, IsBadLabel{limits}, Add{}}, num_bad);
}

template <class T>
struct CountMember {
  Span<const T> root;
  Span<const LocalIndex> marks;
  Span<LocalIndex> counts;

  ZHALO_HD bool counts_for_group(Index i) const {
    return root[i] != no_root<T> && (marks.empty() || marks[i] != 0);
  }

  ZHALO_HD void prefetch(Index i) const {
    if (counts_for_group(i)) prefetch_line(&counts[Index{root[i]}]);
  }
};

struct TakeLabel {
  Span<const Index> neighbour;
  Span<const Index> candidate;
  Span<Index> label;

  ZHALO_HD void operator()(Index i) const { label[i] = neighbour[i] < 0 ? no_group : candidate[i]; }
};

template <class E>
void take_labels(const E& exec, Span<const Index> neighbour, Span<const Index> candidate,
                 Span<Index> label) {
  for_each(exec, label.size(), TakeLabel{neighbour, candidate, label});
}

struct TakeRoot {
  NeighboursOnRanks neighbours;
  Span<const LocalIndex> root_of_neighbour;
  Span<LocalIndex> root;

  ZHALO_HD void operator()(Index i) const {
    root[i] = neighbours.is_here(i) ? root_of_neighbour[i] : no_root<LocalIndex>;
  }
};

template <class E>
void take_roots(const E& exec, const NeighboursOnRanks& neighbours,
                Span<const LocalIndex> root_of_neighbour, Span<LocalIndex> root) {
  for_each(exec, root.size(), TakeRoot{neighbours, root_of_neighbour, root});
}

struct IsElsewhere {
  NeighboursOnRanks neighbours;

  ZHALO_HD bool operator()(Index i) const {
    return neighbours.neighbour[i] >= 0 && !neighbours.is_here(i);
  }
};

template <class E>
Buffer<LocalIndex> select_elsewhere(const E& exec, const NeighboursOnRanks& neighbours) {
  return select(exec, neighbours.neighbour.size(), IsElsewhere{neighbours});
}

template <class T>
struct IsLarge {
  Span<const T> counts;
  Index min_members;

  ZHALO_HD bool operator()(Index i) const { return Index{counts[i]} >= min_members; }
};

template <class E, class T>
Buffer<LocalIndex> select_groups(const E& exec, Span<const T> counts, Index min_members) {
  return select(exec, counts.size(), IsLarge<T>{counts, min_members});
}

struct MakeSizeKey {
  Span<const LocalIndex> counts;
  Span<const LocalIndex> roots;
  Span<std::uint64_t> keys;

  ZHALO_HD void operator()(Index g) const {
    keys[g] = static_cast<std::uint64_t>(counts.size() - Index{counts[roots[g]]});
  }
};

template <class E>
void make_size_keys(const E& exec, Span<const LocalIndex> counts, Span<const LocalIndex> roots,
                    Span<std::uint64_t> keys) {
  for_each(exec, roots.size(), MakeSizeKey{counts, roots, keys});
}

struct TakeLength {
  Span<const LocalIndex> counts;
  Span<const LocalIndex> roots;
  Span<Index> length;

  ZHALO_HD void operator()(Index g) const { length[g] = counts[roots[g]]; }
};

struct NumberRow {
  Span<const LocalIndex> roots;
  RowsView rows;

  ZHALO_HD void operator()(Index g) const {
    const LocalIndex root = roots[g];
    rows.row[root] = static_cast<LocalIndex>(g);
    atomic_add(rows.marked[root / 32], LocalIndex{1} << (root % 32));
  }
};

template <class E>
void number_rows(const E& exec, Span<const LocalIndex> roots, const RowsView& rows,
                 Span<Index> length) {
  for_each(exec, length.size(), TakeLength{rows.row, roots, length});
  fill(exec, rows.marked, LocalIndex{0});
  for_each(exec, roots.size(), NumberRow{roots, rows});
}

template <class T>
struct AssignGroup {
  Span<const T> root;
  RowsView rows;
  Span<Index> group_of;

  ZHALO_HD void prefetch(Index i) const {
    if (root[i] != no_root<T>) prefetch_line(&rows.marked[Index{root[i]} / 32]);
  }

  ZHALO_HD void operator()(Index i) const {
    const Index of_group = root[i];
    const bool has_row = root[i] != no_root<T> && rows.has(of_group);
    group_of[i] = has_row ? Index{rows.row[of_group]} : no_group;
  }
};

template <class E, class T>
void assign_groups(const E& exec, Span<const T> root, const RowsView& rows, Span<Index> group_of) {
  for_each(exec, root.size(), AssignGroup<T>{root, rows, group_of});
}

struct RenumberGroup {
  Span<const Index> row_of;
  Span<Index> group_of;

  ZHALO_HD void operator()(Index i) const {
    if (group_of[i] != no_group) group_of[i] = row_of[group_of[i]];
  }
};

template <class E>
void renumber_groups(const E& exec, Span<const Index> row_of, Span<Index> group_of) {
  for_each(exec, group_of.size(), RenumberGroup{row_of, group_of});
}

struct IsMember {
  Span<const Index> group_of;

  ZHALO_HD bool operator()(Index i) const { return group_of[i] != no_group; }
};

template <class E>
Buffer<LocalIndex> select_members(const E& exec, Span<const Index> group_of, Index num_members) {
  if (num_members == not_known) return select(exec, group_of.size(), IsMember{group_of});
  Buffer<LocalIndex> members(exec, num_members, "members of groups");
  Buffer<Index> num_selected(exec, 1, "members of groups");
  queue_select(exec, group_of.size(), IsMember{group_of}, members.data(), num_selected.data());
  return members;
}

/// The species of a particle, if each begins at one of the indices.
ZHALO_HD inline Index species_of(Span<const Index> first_of_species, Index particle) {
  Index species = 0;
  while (species + 1 < first_of_species.size() && first_of_species[species + 1] <= particle)
    ++species;
  return species;
}

struct MakeMemberKey {
  Span<const Index> group_of;
  Span<const LocalIndex> members;
  Span<const Index> first_of_species;
  Span<std::uint64_t> keys;

  ZHALO_HD void operator()(Index m) const {
    const Index member = members[m];
    const Index species = species_of(first_of_species, member);
    keys[m] = static_cast<std::uint64_t>(group_of[member] * first_of_species.size() + species);
  }
};

template <class E>
void make_member_keys(const E& exec, Span<const Index> group_of, Span<const LocalIndex> members,
                      Span<const Index> first_of_species, Span<std::uint64_t> keys) {
  for_each(exec, members.size(), MakeMemberKey{group_of, members, first_of_species, keys});
}

struct MakeLengthKey {
  Span<const Index> lengths;
  Index longest;
  Span<std::uint64_t> keys;

  ZHALO_HD void operator()(Index g) const {
    keys[g] = static_cast<std::uint64_t>(longest - lengths[g]);
  }
};

template <class E>
void make_length_keys(const E& exec, Span<const Index> lengths, Index longest,
                      Span<std::uint64_t> keys) {
  for_each(exec, lengths.size(), MakeLengthKey{lengths, longest, keys});
}

struct FindOriginOfMember {
  OriginsOfSpecies origins;
  Span<const LocalIndex> members;
  Span<Index> to;

  ZHALO_HD void operator()(Index m) const {
    const Index member = members[m];
    const Index species = species_of(origins.first, member);
    const Index first = origins.first[species];
    to[m] = first + origins.origin[species][member - first];
  }
};

template <class E>
void find_origins_of_members(const E& exec, const OriginsOfSpecies& origins,
                             Span<const LocalIndex> members, Span<Index> to) {
  for_each(exec, to.size(), FindOriginOfMember{origins, members, to});
}

struct HashMember {
  Span<const Index> members;
  Index first;

  ZHALO_HD std::uint64_t operator()(Index i) const {
    Hash hash;
    hash.add(static_cast<std::uint64_t>(first + i));
    return hash.add(static_cast<std::uint64_t>(members[i])).value();
  }
};

struct AddHashes {
  ZHALO_HD std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const { return a + b; }
};

template <class E>
void hash_members(const E& exec, Span<const Index> members, Index first, std::uint64_t* sum) {
  queue_reduce(exec, members.size(),
               MapReduce{std::uint64_t{0}, HashMember{members, first}, AddHashes{}}, sum);
}

ZHALO_INSTANTIATE_REALS(count_bad_members);
ZHALO_INSTANTIATE(count_bad_labels);
ZHALO_INSTANTIATE(take_labels);
ZHALO_INSTANTIATE(take_roots);
ZHALO_INSTANTIATE(select_elsewhere);
ZHALO_INSTANTIATE(select_groups, Index);
ZHALO_INSTANTIATE(select_groups, LocalIndex);
ZHALO_INSTANTIATE(make_size_keys);
ZHALO_INSTANTIATE(number_rows);
ZHALO_INSTANTIATE(assign_groups, Index);
ZHALO_INSTANTIATE(assign_groups, LocalIndex);
ZHALO_INSTANTIATE(renumber_groups);
ZHALO_INSTANTIATE(select_members);
ZHALO_INSTANTIATE(make_member_keys);
ZHALO_INSTANTIATE(make_length_keys);
ZHALO_INSTANTIATE(find_origins_of_members);
ZHALO_INSTANTIATE(hash_members);

}  // namespace zhalo::kernels
