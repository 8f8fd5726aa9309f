/// The loops that kernels/common is written in, wrapped so that a test can call them on every Exec.
#pragma once

#include "zhalo/core/buffer.hpp"
#include "zhalo/core/exec.hpp"
#include "zhalo/core/span.hpp"

namespace zhalo::testing {

struct Digest {
  Index sum = 0;
  Index smallest = 0;
  Index largest = 0;
  Index count = 0;

  friend bool operator==(const Digest&, const Digest&) = default;
};

/// to[i] += i + 1, by for_each.
template <class E>
void add_indices(const E& exec, Span<Index> to);

/// By exclusive_scan: returns the total.
template <class E>
Index scan(const E& exec, Span<Index> values);

/// By transform_reduce.
template <class E>
Digest digest(const E& exec, Span<const Index> values);

/// The indices of negative values, by select.
template <class E>
Buffer<LocalIndex> find_negative(const E& exec, Span<const Index> values);

/// What the loops leave in memory of the Exec.
struct Queued {
  Span<Index> scanned;   ///< in: the values
  LocalIndex* negative;  ///< indices
  Index* num_negative;
  Digest* digest;
};
/// By queue_scan, queue_select and queue_reduce.
template <class E>
void queue_loops(const E& exec, Span<const Index> values, const Queued& results);

}  // namespace zhalo::testing
