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

/// Notes the smallest index in the caller's order at each root.
struct FindSmallest {
  DisjointSets sets;
  Span<const LocalIndex> order;
  Span<LocalIndex> smallest;

  ZHALO_HD void operator()(Index i) const {
    atomic_min(smallest[sets.find(static_cast<LocalIndex>(i))], order[i]);
  }
};

/// Looks for the root again: while others halve paths, nobody can promise that a parent is a root
/// already.
struct WriteLabel {
  DisjointSets sets;
  Span<const LocalIndex> order;
  Span<const LocalIndex> smallest;
  LabelTarget target;

  ZHALO_HD void prefetch(Index i) const { prefetch_line(&target.label[order[i]]); }

  ZHALO_HD void operator()(Index i) const {
    target.label[order[i]] = target.first_index + smallest[sets.find(static_cast<LocalIndex>(i))];
  }
};

template <class E>
void write_labels(const E& exec, const DisjointSets& sets, Span<const LocalIndex> order,
                  Span<LocalIndex> smallest, const LabelTarget& target) {
  for_each(exec, order.size(), ForgetSmallest{smallest});
  for_each(exec, order.size(), FindSmallest{sets, order, smallest});
  for_each(exec, order.size(), WriteLabel{sets, order, smallest, target});
}

}  // namespace zhalo::kernels
