/// Sorting, looking up in what is sorted, and runs of equal keys.
///
/// Templates are defined in kernels/common/sort, for Host and Cuda.
#pragma once

#include <cstdint>

#include "zhalo/core/buffer.hpp"
#include "zhalo/core/span.hpp"

namespace zhalo::kernels {

/// Key-value pairs to sort, with as much room again to sort through.
template <class Key>
struct SortPairsOf {
  Span<Key> keys;
  Span<LocalIndex> values;
  Span<Key> spare_keys;
  Span<LocalIndex> spare_values;
};
using SortPairs = SortPairsOf<std::uint64_t>;

/// Sorts by the lowest `bits` bits of the keys (all others must be equal), stably: equal keys keep
/// their order. The result is in keys and values; the spare room holds anything.
void sort_pairs(const Host& exec, const SortPairs& pairs, int bits);
void sort_pairs(const Cuda& exec, const SortPairs& pairs, int bits);

/// A device moves less memory if keys are short. The keys are in pairs.keys or in pairs.spare_keys
/// then: what is returned says where.
inline constexpr int bits_of_short_key = 32;
Span<const std::uint32_t> sort_short_pairs(const Cuda& exec,
                                           const SortPairsOf<std::uint32_t>& pairs, int bits);

// ---------------------------------------------------------------- weights of sorted keys

/// Ascending keys and the weight of all elements before each index (size + 1), or none where each
/// weighs 1.
struct KeyWeights {
  Span<const std::uint64_t> keys;
  Span<const Index> weight_before;
};

/// weights[i] = weight of the elements with keys below probes[i].
template <class E>
void weigh_below(const E& exec, const KeyWeights& sorted, Span<const std::uint64_t> probes,
                 Span<Index> weights);

/// indices[i] = first index before which at least weights[i] lies.
template <class E>
void find_weights(const E& exec, Span<const Index> weight_before, Span<const Index> weights,
                  Span<Index> indices);

/// weight_before[i] = weight of the particles order[0] to order[i - 1], up to i = order.size().
/// Returns how many weigh nothing.
template <class E>
Index accumulate_weights(const E& exec, const Strided<std::uint32_t>& weight,
                         Span<const LocalIndex> order, Span<Index> weight_before);

// ---------------------------------------------------------------- runs of equal keys

/// Sorted elements, seen as runs of equal keys.
struct RunsView {
  Span<const LocalIndex> order;  ///< former index of each element
  Span<const LocalIndex> start;  ///< first element of each run

  ZHALO_HD Index end(Index run) const {
    return run + 1 < start.size() ? Index{start[run + 1]} : order.size();
  }
};

/// First element of each run of equal keys.
template <class E>
Buffer<LocalIndex> select_run_starts(const E& exec, Span<const std::uint64_t> keys);

/// Elements of each run; what they weigh, given the weight before each element and of all (size +
/// 1); sums over each run of the values (which lie in the former order).
template <class E>
void count_runs(const E& exec, const RunsView& runs, Span<LocalIndex> counts);
template <class E>
void weigh_runs(const E& exec, const RunsView& runs, Span<const Index> weight_before,
                Span<LocalIndex> weights);
template <class E>
void sum_runs(const E& exec, const RunsView& runs, Span<const LocalIndex> values, Span<Index> sums);
/// to[i] = value of the run that element i (in the former order) is in.
template <class E>
void spread_runs(const E& exec, const RunsView& runs, Span<const Index> values, Span<Index> to);

}  // namespace zhalo::kernels
