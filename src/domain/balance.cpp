#include "src/domain/balance.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "kernels/on.hpp"
#include "kernels/particles.hpp"
#include "kernels/sort.hpp"
#include "src/core/validate.hpp"

namespace zhalo {
namespace {

constexpr int bits_per_round = 4;

/// Weight (or number) of the elements before each key; empty if each key is one.
Span<const Index> before_keys(const SortedKeys& sorted) {
  return sorted.num_before.empty() ? sorted.weight_before : sorted.num_before;
}

/// Weight (or number) of all elements of this rank.
Index weight_of(const Exec& exec, const SortedKeys& sorted) {
  const Index num = sorted.keys.size();
  const Span<const Index> before = before_keys(sorted);
  return before.empty() ? num : to_host(exec, before.subspan(num, 1)).front();
}

/// Weight (or number) of this rank's elements with keys below each probe.
std::vector<Index> weights_below(const Exec& exec, const SortedKeys& sorted,
                                 const std::vector<std::uint64_t>& probes) {
  const auto on_exec = to_exec(exec, Span<const std::uint64_t>(probes), "keys to cut at");
  Buffer<Index> weight(exec, on_exec.size(), "weights below keys");
  const kernels::KeyWeights of_keys{sorted.keys, before_keys(sorted)};
  kernels::on(exec, [&](const auto& e) {
    kernels::weigh_below(e, of_keys, on_exec.span(), weight.span());
  });
  return to_host(exec, weight);
}

/// For each target the largest key with no more than that weight below it, over all ranks.
std::vector<std::uint64_t> keys_at(const Context& context, const SortedKeys& sorted,
                                   const std::vector<Index>& targets) {
  std::vector<std::uint64_t> keys(targets.size());
  for (int shift = sorted.bits; shift > 0;) {
    const int width = std::min(bits_per_round, shift);
    shift -= width;
    const std::size_t digits = (std::size_t{1} << width) - 1;
    std::vector<std::uint64_t> probes;
    for (const std::uint64_t key : keys) {
      for (std::uint64_t digit = 1; digit <= digits; ++digit)
        probes.push_back(key | digit << shift);
    }
    std::vector<Index> below = weights_below(context.exec, sorted, probes);
    context.comm.sum_in_place(below);
    for (std::size_t t = 0; t < targets.size(); ++t) {
      const auto first = below.begin() + static_cast<std::ptrdiff_t>(t * digits);
      const auto fits =
          std::upper_bound(first, first + static_cast<std::ptrdiff_t>(digits), targets[t]) - first;
      keys[t] |= static_cast<std::uint64_t>(fits) << shift;
    }
  }
  return keys;
}

/// Weight of this rank's elements before each cut.
std::vector<Index> weights_before_cuts(const Context& context, const SortedKeys& sorted,
                                       const std::vector<Index>& targets) {
  const std::vector<std::uint64_t> keys = keys_at(context, sorted, targets);
  std::vector<std::uint64_t> next = keys;
  for (std::uint64_t& key : next) ++key;
  const std::vector<Index> below = weights_below(context.exec, sorted, keys);
  const std::vector<Index> below_next = weights_below(context.exec, sorted, next);
  std::vector<Index> below_on_all = below;
  context.comm.sum_in_place(below_on_all);
  std::vector<Index> equal_on_lower(targets.size());
  for (std::size_t t = 0; t < targets.size(); ++t) equal_on_lower[t] = below_next[t] - below[t];
  context.comm.exclusive_sum_in_place(equal_on_lower);
  std::vector<Index> before(targets.size());
  for (std::size_t t = 0; t < targets.size(); ++t) {
    const Index rest = targets[t] - below_on_all[t] - equal_on_lower[t];
    before[t] = below[t] + std::clamp<Index>(rest, 0, below_next[t] - below[t]);
  }
  return before;
}

/// Of all ranks. Added up in two halves: what no Index can hold is noticed.
Index total_of(const Communicator& comm, Index weight) {
  constexpr int half = 32;
  constexpr Index limit = Index{1} << 62;
  const auto bits = static_cast<std::uint64_t>(weight);
  std::vector<Index> sums{static_cast<Index>(bits >> half), static_cast<Index>(bits & 0xffffffffU)};
  comm.sum_in_place(sums);
  validate(
      sums[0] + (sums[1] >> half) < limit >> half,
      "the weights of all particles add up to {:.4g} (must be less than 2^62): divide them all "
      "by the same number",
      std::ldexp(static_cast<double>(sums[0]), half) + static_cast<double>(sums[1]));
  return (sums[0] << half) + sums[1];
}

/// Weight before each cut, over all ranks.
std::vector<Index> targets_of(const Communicator& comm, Index weight) {
  const Index total = total_of(comm, weight);
  std::vector<Index> targets;
  for (int rank = 1; rank < comm.size(); ++rank)
    targets.push_back(share_of(total, rank, comm.size()).first);
  return targets;
}

}  // namespace

std::vector<std::uint64_t> keys_of_cuts(const Context& context, const SortedKeys& sorted) {
  return keys_at(context, sorted, targets_of(context.comm, weight_of(context.exec, sorted)));
}

ExchangePlan plan_even_parts(const Context& context, const SortedKeys& sorted) {
  const Index weight = weight_of(context.exec, sorted);
  std::vector<Index> cuts = weights_before_cuts(context, sorted, targets_of(context.comm, weight));
  const bool is_weighted = !sorted.weight_before.empty();
  if (is_weighted) {
    const auto on_exec = to_exec(context.exec, Span<const Index>(cuts), "weights before cuts");
    Buffer<Index> indices(context.exec, on_exec.size(), "cuts");
    kernels::on(context.exec, [&](const auto& e) {
      kernels::find_weights(e, sorted.weight_before, on_exec.span(), indices.span());
    });
    cuts = to_host(context.exec, indices);
  }
  cuts.insert(cuts.begin(), 0);
  cuts.push_back(is_weighted ? sorted.keys.size() : weight);
  std::vector<Index> counts;
  for (std::size_t r = 0; r + 1 < cuts.size(); ++r) counts.push_back(cuts[r + 1] - cuts[r]);
  return context.comm.plan_exchange(counts);
}

Buffer<LocalIndex> sort_indices(const Exec& exec, Span<std::uint64_t> keys, int bits) {
  Buffer<LocalIndex> order(exec, keys.size(), "sorted order");
  Buffer<std::uint64_t> spare_keys(exec, keys.size(), "sorting");
  Buffer<LocalIndex> spare_order(exec, keys.size(), "sorting");
  kernels::on(exec, [&](const auto& e) {
    kernels::number(e, order.span());
    kernels::sort_pairs(e, {keys, order.span(), spare_keys.span(), spare_order.span()}, bits);
  });
  return order;
}

std::vector<Index> count_ranks(const Exec& exec, Span<const std::uint64_t> ranks, int num_ranks) {
  std::vector<std::uint64_t> next(static_cast<std::size_t>(num_ranks));
  std::iota(next.begin(), next.end(), std::uint64_t{1});
  std::vector<Index> counts = weights_below(exec, {ranks}, next);
  std::adjacent_difference(counts.begin(), counts.end(), counts.begin());
  return counts;
}

int bits_for(Index largest) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(largest)));
}

}  // namespace zhalo
