// Definitions for loops.hpp, instantiated for the Exec that ZHALO_EXEC names. After the loops of a
// backend. No include guard.
#include <limits>

#include "tests/parity/loops.hpp"

namespace zhalo::testing {

struct AddIndex {
  Span<Index> to;

  ZHALO_HD void operator()(Index i) const { to[i] += i + 1; }
};

struct DigestOne {
  Span<const Index> values;

  ZHALO_HD Digest operator()(Index i) const { return {values[i], values[i], values[i], 1}; }
};

struct CombineDigests {
  ZHALO_HD Digest operator()(const Digest& a, const Digest& b) const {
    return {a.sum + b.sum, a.smallest < b.smallest ? a.smallest : b.smallest,
            a.largest > b.largest ? a.largest : b.largest, a.count + b.count};
  }
};

template <class E>
void add_indices(const E& exec, Span<Index> to) {
  kernels::for_each(exec, to.size(), AddIndex{to});
}

template <class E>
Index scan(const E& exec, Span<Index> values) {
  return kernels::exclusive_scan(exec, values);
}

inline Digest nothing() {
  return {0, std::numeric_limits<Index>::max(), std::numeric_limits<Index>::min(), 0};
}

template <class E>
Digest digest(const E& exec, Span<const Index> values) {
  return kernels::transform_reduce(exec, values.size(), nothing(), DigestOne{values},
                                   CombineDigests{});
}

struct IsNegative {
  Span<const Index> values;

  ZHALO_HD bool operator()(Index i) const { return values[i] < 0; }
};

template <class E>
Buffer<LocalIndex> find_negative(const E& exec, Span<const Index> values) {
  return kernels::select(exec, values.size(), IsNegative{values});
}

template <class E>
void queue_loops(const E& exec, Span<const Index> values, const Queued& results) {
  kernels::queue_select(exec, values.size(), IsNegative{values}, results.negative,
                        results.num_negative);
  kernels::queue_reduce(exec, values.size(),
                        kernels::MapReduce{nothing(), DigestOne{values}, CombineDigests{}},
                        results.digest);
  kernels::queue_scan(exec, results.scanned);
}

template void add_indices(const ZHALO_EXEC&, Span<Index>);
template Index scan(const ZHALO_EXEC&, Span<Index>);
template Digest digest(const ZHALO_EXEC&, Span<const Index>);
template Buffer<LocalIndex> find_negative(const ZHALO_EXEC&, Span<const Index>);
template void queue_loops(const ZHALO_EXEC&, Span<const Index>, const Queued&);

}  // namespace zhalo::testing
