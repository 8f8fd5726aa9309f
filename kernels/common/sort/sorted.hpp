/// Searches in sorted keys, and runs of equal ones.
#pragma once

#include <type_traits>

#include "kernels/common/arithmetic.hpp"
#include "kernels/common/backend.hpp"
#include "kernels/sort.hpp"

namespace zhalo::kernels {

// Looking up indices in sorted keys and in running sums of weights.

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

ZHALO_INSTANTIATE(weigh_below);
ZHALO_INSTANTIATE(find_weights);
ZHALO_INSTANTIATE(accumulate_weights);

// Runs of equal keys in sorted order: labels and rows of groups whose particles lie on several
// ranks.

struct StartsRun {
  Span<const std::uint64_t> keys;

  ZHALO_HD bool operator()(Index i) const { return i == 0 || keys[i] != keys[i - 1]; }
};

template <class E>
Buffer<LocalIndex> select_run_starts(const E& exec, Span<const std::uint64_t> keys) {
  return select(exec, keys.size(), StartsRun{keys});
}

struct CountRun {
  RunsView runs;
  Span<LocalIndex> counts;

  ZHALO_HD void operator()(Index run) const {
    counts[run] = static_cast<LocalIndex>(runs.end(run) - runs.start[run]);
  }
};

template <class E>
void count_runs(const E& exec, const RunsView& runs, Span<LocalIndex> counts) {
  for_each(exec, counts.size(), CountRun{runs, counts});
}

struct WeighRun {
  RunsView runs;
  Span<const Index> weight_before;
  Span<LocalIndex> weights;

  ZHALO_HD void operator()(Index run) const {
    weights[run] =
        static_cast<LocalIndex>(weight_before[runs.end(run)] - weight_before[runs.start[run]]);
  }
};

template <class E>
void weigh_runs(const E& exec, const RunsView& runs, Span<const Index> weight_before,
                Span<LocalIndex> weights) {
  for_each(exec, weights.size(), WeighRun{runs, weight_before, weights});
}

struct SumRun {
  RunsView runs;
  Span<const LocalIndex> values;
  Span<Index> sums;

  ZHALO_HD void operator()(Index run) const {
    Index sum = 0;
    for (Index i = runs.start[run]; i < runs.end(run); ++i) sum += values[runs.order[i]];
    sums[run] = sum;
  }
};

template <class E>
void sum_runs(const E& exec, const RunsView& runs, Span<const LocalIndex> values,
              Span<Index> sums) {
  for_each(exec, sums.size(), SumRun{runs, values, sums});
}

/// A long run is not one thread's work. So a chunk of elements looks for its first run, and goes on
/// from there. On a device a chunk is one element.
struct SpreadChunk {
  static constexpr bool long_elements = true;
  RunsView runs;
  Span<const Index> values;
  Span<Index> to;
  Index chunk;

  ZHALO_HD void operator()(Index c) const {
    const Index num = runs.order.size();
    const Index first = c * chunk;
    const Index last = first + chunk < num ? first + chunk : num;
    Index run = first_index_where(runs.start.size(),
                                  [&](Index at) { return Index{runs.start[at]} > first; }) -
                1;
    Index end = runs.end(run);
    for (Index i = first; i < last; ++i) {
      if (i + prefetch_distance < last) prefetch_line(&to[runs.order[i + prefetch_distance]]);
      if (i == end) end = runs.end(++run);
      to[runs.order[i]] = values[run];
    }
  }
};

template <class E>
void spread_runs(const E& exec, const RunsView& runs, Span<const Index> values, Span<Index> to) {
  const Index num = runs.order.size();
  const Index chunk = std::is_same_v<E, Host> ? chunk_of_loop(exec) : 1;
  for_each(exec, (num + chunk - 1) / chunk, SpreadChunk{runs, values, to, chunk});
}

ZHALO_INSTANTIATE(select_run_starts);
ZHALO_INSTANTIATE(count_runs);
ZHALO_INSTANTIATE(weigh_runs);
ZHALO_INSTANTIATE(sum_runs);
ZHALO_INSTANTIATE(spread_runs);

}  // namespace zhalo::kernels
