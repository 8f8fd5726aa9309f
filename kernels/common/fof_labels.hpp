/// From sets to canonical labels.
#pragma once

#include <limits>

#include "kernels/common/prefetch.hpp"
#include "kernels/views.hpp"

namespace zhalo::kernels {

struct ForgetSmallest {
  static constexpr LocalIndex none = std::numeric_limits<LocalIndex>::max();
  Span<LocalIndex> smallest;

  ZHALO_HD void operator()(Index i) const { smallest[i] = none; }
};

/// Points every element to its root, and notes the smallest index in the caller's order at the root.
struct FindSmallest {
  DisjointSets sets;
  Span<const LocalIndex> order;
  Span<LocalIndex> smallest;

  ZHALO_HD void operator()(Index i) const {
    const LocalIndex root = sets.find(static_cast<LocalIndex>(i));
    atomic_store(sets.parent[i], root);
    atomic_min(smallest[root], order[i]);
  }
};

struct WriteLabel {
  DisjointSets sets;
  Span<const LocalIndex> order;
  Span<const LocalIndex> smallest;
  LabelTarget target;

  ZHALO_HD void prefetch(Index i) const { prefetch_line(&target.label[order[i]]); }

  ZHALO_HD void operator()(Index i) const { target.label[order[i]] = target.first_index + smallest[sets.parent[i]]; }
};

template <class E>
void write_labels(const E& exec, const DisjointSets& sets, Span<const LocalIndex> order, Span<LocalIndex> smallest,
                  const LabelTarget& target) {
  for_each(exec, order.size(), ForgetSmallest{smallest});
  for_each(exec, order.size(), FindSmallest{sets, order, smallest});
  for_each(exec, order.size(), WriteLabel{sets, order, smallest, target});
}

}  // namespace zhalo::kernels
