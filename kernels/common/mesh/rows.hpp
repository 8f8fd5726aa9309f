/// Elements of index boxes one by one: rows in order on the host, one element a thread on a device.
#pragma once

#include <algorithm>
#include <type_traits>

#include "kernels/common/arithmetic.hpp"
#include "kernels/common/backend.hpp"
#include "kernels/mesh.hpp"

namespace zhalo::kernels {

/// A sum and of how many: 16 bytes, of which CUB has a thread take fewer at a time than of 8. It
/// then keeps them in registers.
struct CountedSum {
  Index sum = 0;
  Index num = 0;
};
struct AddCountedSums {
  ZHALO_HD CountedSum operator()(const CountedSum& a, const CountedSum& b) const {
    return {a.sum + b.sum, a.num + b.num};
  }
};

/// An action's row(a, b) is what its elements have in common, called with (offset, index along the
/// last axis).
template <class Action>
ZHALO_HD auto act_on_element(const GridRows& rows, const Action& action, Index i) {
  const Index row = quotient(i, rows.extent[2]);
  const Index c = i - row * rows.extent[2];
  const Index a = quotient(row, rows.extent[1]);
  const Index b = row - a * rows.extent[1];
  return action.row(a, b)(rows.offset(a, b) + c, c);
}

/// What a device runs.
template <class Action>
struct ActOnElement {
  GridRows rows;
  Action action;

  ZHALO_HD void operator()(Index i) const { act_on_element(rows, action, i); }
};

/// The same, and what the action returns.
template <class Action>
struct SumElement {
  GridRows rows;
  Action action;

  ZHALO_HD CountedSum operator()(Index i) const { return {act_on_element(rows, action, i), 1}; }
};

/// visit(act, offset, first, end) for the rows' parts of elements [element, last): act is the row's
/// action, its elements are offset + first to offset + end.
template <class Action, class Visit>
void for_each_row(const GridRows& rows, const Action& action, Index element, Index last,
                  const Visit& visit) {
  while (element < last) {
    const Index row = element / rows.extent[2];
    const Index first = element % rows.extent[2];
    const Index end = std::min(rows.extent[2], first + last - element);
    const Index a = row / rows.extent[1];
    const Index b = row % rows.extent[1];
    visit(action.row(a, b), rows.offset(a, b), first, end);
    element += end - first;
  }
}

/// What the host runs: chunk i is the elements from i * chunk on.
template <class Action>
struct ActOnRows {
  static constexpr bool long_elements = true;

  GridRows rows;
  Action action;
  Index chunk = 0;

  void operator()(Index i) const {
    const auto visit = [](const auto& act, Index offset, Index first, Index end) {
      for (Index c = first; c < end; ++c) act(offset + c, c);
    };
    for_each_row(rows, action, i * chunk, std::min(rows.size(), (i + 1) * chunk), visit);
  }
};

template <class E, class Action>
void act_on_rows(const E& exec, const GridRows& rows, const Action& action) {
  const Index size = rows.size();
  if (size == 0) return;
  if constexpr (std::is_same_v<E, Host>) {
    const Index chunk = chunk_of_loop(exec);
    for_each(exec, (size + chunk - 1) / chunk, ActOnRows<Action>{rows, action, chunk});
  } else {
    for_each(exec, size, ActOnElement<Action>{rows, action});
  }
}

/// The sum of what the action returns for all elements; each is acted on once at least.
template <class E, class Action>
Index sum_over_rows(const E& exec, const GridRows& rows, const Action& action) {
  const Index size = rows.size();
  if (size == 0) return 0;
  if constexpr (std::is_same_v<E, Host>) {
    const auto sum = [&](Index begin, Index last) {
      Index sum_of_chunk = 0;
      const auto visit = [&](const auto& act, Index offset, Index first, Index end) {
        for (Index c = first; c < end; ++c) sum_of_chunk += act(offset + c, c);
      };
      for_each_row(rows, action, begin, last, visit);
      return CountedSum{sum_of_chunk, last - begin};
    };
    return reduce_blocks(exec, size, CountedSum{}, sum, AddCountedSums{}).sum;
  } else {
    return transform_reduce(exec, size, CountedSum{}, SumElement<Action>{rows, action},
                            AddCountedSums{})
        .sum;
  }
}

}  // namespace zhalo::kernels
