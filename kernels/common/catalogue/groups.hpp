/// From labels to groups in their order, and to members in group order.
#pragma once

#include <limits>

#include "kernels/catalogue.hpp"
#include "kernels/common/atomics.hpp"
#include "kernels/common/backend.hpp"

namespace zhalo::kernels {

inline constexpr LocalIndex no_row = std::numeric_limits<LocalIndex>::max();

struct Fill {
  Span<LocalIndex> to;
  LocalIndex value;

  ZHALO_HD void operator()(Index i) const { to[i] = value; }
};

struct IsBadLabel {
  Span<const Index> label;
  Index num_total;

  ZHALO_HD Index operator()(Index i) const {
    return label[i] < no_group || label[i] >= num_total ? 1 : 0;
  }
};

struct Add {
  ZHALO_HD Index operator()(Index a, Index b) const { return a + b; }
};

template <class E>
void count_bad_labels(const E& exec, Span<const Index> label, Index num_total, Index* num_bad) {
  queue_reduce(exec, label.size(), MapReduce{Index{0}, IsBadLabel{label, num_total}, Add{}},
               num_bad);
}

struct CountLabel {
  LabelsView labels;
  Span<LocalIndex> counts;

  ZHALO_HD void prefetch(Index i) const {
    if (labels.has_group(i)) prefetch_line(&counts[labels.root(i)]);
  }

  ZHALO_HD void operator()(Index i) const {
    if (labels.has_group(i)) atomic_add(counts[labels.root(i)], LocalIndex{1});
  }
};

template <class E>
void count_labels(const E& exec, const LabelsView& labels, Span<LocalIndex> counts) {
  for_each(exec, counts.size(), Fill{counts, 0});
  for_each(exec, labels.label.size(), CountLabel{labels, counts});
}

struct CountMarkedLabel {
  LabelsView labels;
  Span<const LocalIndex> marks;
  Span<LocalIndex> counts;

  ZHALO_HD void operator()(Index i) const {
    if (marks[i] != 0 && labels.has_group(i)) atomic_add(counts[labels.root(i)], LocalIndex{1});
  }
};

template <class E>
void count_marked_labels(const E& exec, const LabelsView& labels, Span<const LocalIndex> marks,
                         Span<LocalIndex> counts) {
  for_each(exec, counts.size(), Fill{counts, 0});
  for_each(exec, labels.label.size(), CountMarkedLabel{labels, marks, counts});
}

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

struct IsLarge {
  Span<const LocalIndex> counts;
  Index min_members;

  ZHALO_HD bool operator()(Index i) const { return Index{counts[i]} >= min_members; }
};

template <class E>
Buffer<LocalIndex> select_groups(const E& exec, Span<const LocalIndex> counts, Index min_members) {
  return select(exec, counts.size(), IsLarge{counts, min_members});
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
  Span<LocalIndex> rows;

  ZHALO_HD void operator()(Index g) const { rows[roots[g]] = static_cast<LocalIndex>(g); }
};

template <class E>
void number_rows(const E& exec, Span<const LocalIndex> roots, Span<LocalIndex> counts_to_rows,
                 Span<Index> length) {
  for_each(exec, roots.size(), TakeLength{counts_to_rows, roots, length});
  for_each(exec, counts_to_rows.size(), Fill{counts_to_rows, no_row});
  for_each(exec, roots.size(), NumberRow{roots, counts_to_rows});
}

struct AssignGroup {
  LabelsView labels;
  Span<const LocalIndex> rows;
  Span<Index> group_of;

  ZHALO_HD void prefetch(Index i) const {
    if (labels.has_group(i)) prefetch_line(&rows[labels.root(i)]);
  }

  ZHALO_HD void operator()(Index i) const {
    const LocalIndex row = labels.has_group(i) ? rows[labels.root(i)] : no_row;
    group_of[i] = row == no_row ? no_group : Index{row};
  }
};

template <class E>
void assign_groups(const E& exec, const LabelsView& labels, Span<const LocalIndex> rows,
                   Span<Index> group_of) {
  for_each(exec, labels.label.size(), AssignGroup{labels, rows, group_of});
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

struct MakeMemberKey {
  Span<const Index> group_of;
  Span<const LocalIndex> members;
  Span<const Index> first_of_species;
  Span<std::uint64_t> keys;

  ZHALO_HD void operator()(Index m) const {
    const Index member = members[m];
    const Index num = first_of_species.size();
    Index species = 0;
    while (species + 1 < num && first_of_species[species + 1] <= member) ++species;
    keys[m] = static_cast<std::uint64_t>(group_of[member] * num + species);
  }
};

template <class E>
void make_member_keys(const E& exec, Span<const Index> group_of, Span<const LocalIndex> members,
                      Span<const Index> first_of_species, Span<std::uint64_t> keys) {
  for_each(exec, members.size(), MakeMemberKey{group_of, members, first_of_species, keys});
}

struct IsLong {
  Span<const Index> lengths;
  Index min_length;

  ZHALO_HD bool operator()(Index i) const { return lengths[i] >= min_length; }
};

template <class E>
Buffer<LocalIndex> select_long(const E& exec, Span<const Index> lengths, Index min_length) {
  return select(exec, lengths.size(), IsLong{lengths, min_length});
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

struct Shift {
  Span<const Index> from;
  Index by;
  Span<Index> to;

  ZHALO_HD void operator()(Index i) const { to[i] = from[i] + by; }
};

template <class E>
void shift(const E& exec, Span<const Index> from, Index by, Span<Index> to) {
  for_each(exec, to.size(), Shift{from, by, to});
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

ZHALO_INSTANTIATE(count_bad_labels);
ZHALO_INSTANTIATE(count_labels);
ZHALO_INSTANTIATE(count_marked_labels);
ZHALO_INSTANTIATE(take_labels);
ZHALO_INSTANTIATE(select_groups);
ZHALO_INSTANTIATE(make_size_keys);
ZHALO_INSTANTIATE(number_rows);
ZHALO_INSTANTIATE(assign_groups);
ZHALO_INSTANTIATE(select_members);
ZHALO_INSTANTIATE(make_member_keys);
ZHALO_INSTANTIATE(select_long);
ZHALO_INSTANTIATE(make_length_keys);
ZHALO_INSTANTIATE(shift);
ZHALO_INSTANTIATE(hash_members);

}  // namespace zhalo::kernels
