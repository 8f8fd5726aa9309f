/// Elements of bricks one by one: rows in order on the host, one element a thread on a device.
#pragma once

#include <algorithm>
#include <type_traits>

#include "kernels/common/bricks.hpp"
#include "kernels/mode_kernels.hpp"

namespace zhalo::kernels {

/// What a device runs. An action's row(a, b) is what its elements have in common, called with (place, index along the last axis).
template <class Action>
struct ActOnElement {
  GridRows rows;
  Action action;

  ZHALO_HD void operator()(Index i) const {
    const Index row = quotient(i, rows.extent[2]);
    const Index c = i - row * rows.extent[2];
    const Index a = quotient(row, rows.extent[1]);
    const Index b = row - a * rows.extent[1];
    action.row(a, b)(rows.place(a, b) + c, c);
  }
};

/// What the host runs: chunk i is the elements from i * chunk on.
template <class Action>
struct ActOnRows {
  static constexpr bool long_elements = true;

  GridRows rows;
  Action action;
  Index chunk = 0;

  void operator()(Index i) const {
    const Index last = std::min(rows.size(), (i + 1) * chunk);
    for (Index element = i * chunk; element < last;) {
      const Index row = element / rows.extent[2];
      const Index first = element % rows.extent[2];
      const Index end = std::min(rows.extent[2], first + last - element);
      const Index a = row / rows.extent[1];
      const Index b = row % rows.extent[1];
      const Index place = rows.place(a, b);
      const auto act = action.row(a, b);
      for (Index c = first; c < end; ++c) act(place + c, c);
      element += end - first;
    }
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

}  // namespace zhalo::kernels
