/// From sets to canonical labels, on one rank and over ranks.
#pragma once

#include "kernels/common/backend.hpp"
#include "kernels/fof.hpp"

namespace zhalo::kernels {

/// Notes the index in the caller's order at each root.
struct StartSmallest {
  DisjointSets sets;
  Span<const LocalIndex> order;
  Span<LocalIndex> smallest;

  ZHALO_HD void operator()(Index i) const {
    if (sets.parent[i] == static_cast<LocalIndex>(i)) smallest[i] = order[i];
  }
};

/// Notes the smallest index in the caller's order at each root.
struct FindSmallest {
  DisjointSets sets;
  Span<const LocalIndex> order;
  Span<LocalIndex> smallest;

  ZHALO_HD void operator()(Index i) const {
    const LocalIndex root = sets.find(static_cast<LocalIndex>(i));
    if (root != static_cast<LocalIndex>(i)) atomic_min(smallest[root], order[i]);
  }
};

/// Looks for the root again: while others halve paths, nobody can promise that a parent is a root
/// already.
struct WriteLabel {
  DisjointSets sets;
  Span<const LocalIndex> order;
  Span<const LocalIndex> smallest;
  LabelTarget target;

  ZHALO_HD void prefetch(Index i) const { prefetch_line(&target.label[index(i)]); }

  ZHALO_HD void operator()(Index i) const {
    target.label[index(i)] = target.first_index + smallest[sets.find(static_cast<LocalIndex>(i))];
  }

  ZHALO_HD Index index(Index i) const { return target.in_caller_order ? Index{order[i]} : i; }
};

template <class E>
void write_labels(const E& exec, const DisjointSets& sets, Span<const LocalIndex> order,
                  Span<LocalIndex> smallest, const LabelTarget& target) {
  for_each(exec, order.size(), StartSmallest{sets, order, smallest});
  for_each(exec, order.size(), FindSmallest{sets, order, smallest});
  for_each(exec, order.size(), WriteLabel{sets, order, smallest, target});
}

// ---------------------------------------------------------------- labels over ranks

struct ForgetSmallestIndex {
  Span<Index> smallest;

  ZHALO_HD void operator()(Index i) const {
    smallest[i] = static_cast<Index>(~std::uint64_t{0} >> 1);
  }
};

struct FindSmallestIndex {
  DisjointSets sets;
  Span<const Index> global;
  Span<Index> smallest;

  ZHALO_HD void operator()(Index i) const {
    atomic_min(smallest[sets.find(static_cast<LocalIndex>(i))], global[i]);
  }
};

template <class E>
void find_smallest(const E& exec, const DisjointSets& sets, Span<const Index> global,
                   Span<Index> smallest) {
  for_each(exec, smallest.size(), ForgetSmallestIndex{smallest});
  for_each(exec, global.size(), FindSmallestIndex{sets, global, smallest});
}

struct WriteSetLabel {
  DisjointSets sets;
  Span<const LocalIndex> order;
  Span<const Index> label_of_root;
  Span<Index> label;

  ZHALO_HD Index target(Index i) const { return order.empty() ? i : Index{order[i]}; }

  ZHALO_HD void prefetch(Index i) const { prefetch_line(&label[target(i)]); }

  ZHALO_HD void operator()(Index i) const {
    label[target(i)] = label_of_root[sets.find(static_cast<LocalIndex>(i))];
  }
};

template <class E>
void write_set_labels(const E& exec, const DisjointSets& sets, Span<const LocalIndex> order,
                      Span<const Index> label_of_root, Span<Index> label) {
  for_each(exec, label.size(), WriteSetLabel{sets, order, label_of_root, label});
}

ZHALO_INSTANTIATE(write_labels);
ZHALO_INSTANTIATE(find_smallest);
ZHALO_INSTANTIATE(write_set_labels);

}  // namespace zhalo::kernels
