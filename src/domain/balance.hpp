/// Bringing a sequence that each rank has sorted into one order over all ranks, in even parts.
#pragma once

#include <cstdint>
#include <vector>

#include "zhalo/comm/context.hpp"
#include "zhalo/core/buffer.hpp"

namespace zhalo {

/// A rank's elements in ascending order of their keys, of which the lowest `bits` bits (at most 63)
/// may be set.
struct SortedKeys {
  Span<const std::uint64_t> keys;
  int bits = 0;
  /// Weight of all elements before each, and of all at the end (size + 1); empty: each weighs 1.
  /// Weights are positive.
  Span<const Index> weight_before{};
  /// If keys stand for several elements: the number of elements before each key, and of all at the
  /// end. A key at which elements are cut must stand for one. Not together with weights.
  Span<const Index> num_before{};
};

/// Who sends what, so that the elements of all ranks are in one order by (key, rank, index): rank r
/// receives the part of that order that begins where r / size() of the elements (or of their
/// weight) lie before it. Without weights parts are those of share_of. Collective; memory grows
/// with the number of ranks, not its square. After the exchange each rank still has to sort what
/// came, stably.
///
/// The cuts are exact: for each, all ranks together find the key by bisection, four bits a round;
/// equal keys are cut by rank and index.
ExchangePlan plan_even_parts(const Context& context, const SortedKeys& sorted);

/// The keys at which plan_even_parts() would cut, without weights: one fewer than there are ranks.
/// Collective.
std::vector<std::uint64_t> keys_of_cuts(const Context& context, const SortedKeys& sorted);

/// Sorts by keys in place, stably; returns the former place of each. Not collective.
Buffer<LocalIndex> sort_indices(const Exec& exec, Span<std::uint64_t> keys, int bits);

/// How many of the ascending `ranks` are each rank. Not collective.
std::vector<Index> count_ranks(const Exec& exec, Span<const std::uint64_t> ranks, int num_ranks);

/// Bits that numbers up to `largest` need.
int bits_for(Index largest);

}  // namespace zhalo
