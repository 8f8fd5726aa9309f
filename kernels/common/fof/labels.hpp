/// From sets to canonical labels, on one rank and over ranks.
#pragma once

#include "kernels/common/backend.hpp"
#include "kernels/fof.hpp"

namespace zhalo::kernels {

/// Notes the index of each root.
template <class T>
struct StartSmallest {
  DisjointSets sets;
  Span<const T> index;
  Span<T> smallest;

  ZHALO_HD void operator()(Index i) const {
    if (sets.parent[i] == static_cast<LocalIndex>(i)) smallest[i] = index[i];
  }
};

/// Notes the smallest index of each set at its root.
template <class T>
struct FindSmallest {
  DisjointSets sets;
  Span<const T> index;
  Span<T> smallest;

  ZHALO_HD void operator()(Index i) const {
    const LocalIndex root = sets.find(static_cast<LocalIndex>(i));
    if (root != static_cast<LocalIndex>(i)) atomic_min(smallest[root], index[i]);
  }
};

template <class E, class T>
void find_smallest(const E& exec, const DisjointSets& sets, Span<const T> index, Span<T> smallest) {
  for_each(exec, index.size(), StartSmallest<T>{sets, index, smallest});
  for_each(exec, index.size(), FindSmallest<T>{sets, index, smallest});
}

/// Looks for the root again: while others halved paths, nobody could promise that a parent is a
/// root already. Here nobody halves them, so that the parents that are written stay.
template <class T>
struct WriteLabel {
  DisjointSets sets;
  Span<const LocalIndex> order;
  Span<const T> label_of_root;
  Span<Index> label;

  ZHALO_HD Index target(Index i) const { return order.empty() ? i : Index{order[i]}; }

  ZHALO_HD void prefetch(Index i) const { prefetch_line(&label[target(i)]); }

  ZHALO_HD void operator()(Index i) const {
    const LocalIndex root = sets.root_of(static_cast<LocalIndex>(i));
    atomic_store(sets.parent[i], root);
    label[target(i)] = Index{label_of_root[root]};
  }
};

template <class E, class T>
void write_labels(const E& exec, const DisjointSets& sets, Span<const LocalIndex> order,
                  Span<const T> label_of_root, Span<Index> label) {
  for_each(exec, label.size(), WriteLabel<T>{sets, order, label_of_root, label});
}

ZHALO_INSTANTIATE(find_smallest, LocalIndex);
ZHALO_INSTANTIATE(find_smallest, Index);
ZHALO_INSTANTIATE(write_labels, LocalIndex);
ZHALO_INSTANTIATE(write_labels, Index);

}  // namespace zhalo::kernels
