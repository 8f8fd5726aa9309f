/// Looking up places in sorted keys and in running sums of weights.
#pragma once

#include "kernels/common/arithmetic.hpp"
#include "kernels/common/backend.hpp"
#include "kernels/sort.hpp"

namespace zhalo::kernels {

struct WeighBelow {
  KeyWeights sorted;
  Span<const std::uint64_t> probes;
  Span<Index> weights;

  ZHALO_HD void operator()(Index i) const {
    const std::uint64_t probe = probes[i];
    const Index index =
        first_index_where(sorted.keys.size(), [&](Index at) { return sorted.keys[at] >= probe; });
    weights[i] = sorted.weight_before.empty() ? index : sorted.weight_before[index];
  }
};

template <class E>
void weigh_below(const E& exec, const KeyWeights& sorted, Span<const std::uint64_t> probes,
                 Span<Index> weights) {
  for_each(exec, probes.size(), WeighBelow{sorted, probes, weights});
}

struct FindWeight {
  Span<const Index> weight_before;
  Span<const Index> weights;
  Span<Index> indices;

  ZHALO_HD void operator()(Index i) const {
    indices[i] = first_index_where(weight_before.size() - 1,
                                   [&](Index at) { return weight_before[at] >= weights[i]; });
  }
};

template <class E>
void find_weights(const E& exec, Span<const Index> weight_before, Span<const Index> weights,
                  Span<Index> indices) {
  for_each(exec, weights.size(), FindWeight{weight_before, weights, indices});
}

struct TakeWeight {
  Strided<std::uint32_t> weight;
  Span<const LocalIndex> order;
  Span<Index> weights;

  ZHALO_HD void operator()(Index i) const {
    weights[i] = i < order.size() ? Index{weight[order[i]]} : 0;
  }
};

struct WeighsNothing {
  Span<const Index> weights;

  ZHALO_HD Index operator()(Index i) const { return weights[i] == 0 ? 1 : 0; }
};

struct AddWeights {
  ZHALO_HD Index operator()(Index a, Index b) const { return a + b; }
};

template <class E>
Index accumulate_weights(const E& exec, const Strided<std::uint32_t>& weight,
                         Span<const LocalIndex> order, Span<Index> weight_before) {
  for_each(exec, order.size() + 1, TakeWeight{weight, order, weight_before});
  const Index num_zero =
      transform_reduce(exec, order.size(), Index{0}, WeighsNothing{weight_before}, AddWeights{});
  exclusive_scan(exec, weight_before);
  return num_zero;
}

struct GatherKey {
  Span<const std::uint64_t> keys;
  Span<const LocalIndex> at;
  Span<std::uint64_t> to;

  ZHALO_HD void operator()(Index i) const { to[i] = keys[at[i]]; }
};

template <class E>
void gather_keys(const E& exec, Span<const std::uint64_t> keys, Span<const LocalIndex> at,
                 Span<std::uint64_t> to) {
  for_each(exec, at.size(), GatherKey{keys, at, to});
}

ZHALO_INSTANTIATE(weigh_below);
ZHALO_INSTANTIATE(find_weights);
ZHALO_INSTANTIATE(accumulate_weights);
ZHALO_INSTANTIATE(gather_keys);

}  // namespace zhalo::kernels
