/// Looking up places in sorted keys and in running sums of weights.
#pragma once

#include "kernels/common/prefetch.hpp"
#include "kernels/views.hpp"

namespace zhalo::kernels {

/// First place in [0, end) at which `reached` holds, or `end`; it holds from some place on.
template <class Reached>
ZHALO_HD Index first_index_where(Index end, const Reached& reached) {
  Index low = 0;
  Index high = end;
  while (low < high) {
    const Index middle = low + (high - low) / 2;
    if (reached(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

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

struct FindGlobal {
  SourcesView sources;
  Span<const LocalIndex> index;
  Span<const LocalIndex> order;
  Span<Index> global;

  ZHALO_HD void prefetch(Index i) const { prefetch_line(&index[order[i]]); }

  ZHALO_HD void operator()(Index i) const { global[i] = sources.global(order[i], index[order[i]]); }
};

template <class E>
void find_global(const E& exec, const SourcesView& sources, Span<const LocalIndex> index,
                 Span<const LocalIndex> order, Span<Index> global) {
  for_each(exec, order.size(), FindGlobal{sources, index, order, global});
}

template <class Real>
struct Clear {
  Span<Real> values;

  ZHALO_HD void operator()(Index i) const { values[i] = 0; }
};

template <class E, class Real>
void clear(const E& exec, Span<Real> values) {
  for_each(exec, values.size(), Clear<Real>{values});
}

struct Number {
  Span<LocalIndex> indices;

  ZHALO_HD void operator()(Index i) const { indices[i] = static_cast<LocalIndex>(i); }
};

template <class E>
void number(const E& exec, Span<LocalIndex> indices) {
  for_each(exec, indices.size(), Number{indices});
}

/// to[i] = from[at[i]], or to[at[i]] = from[i], byte by byte where the size is odd, else by words.
template <class Word, bool scatters>
struct MoveElement {
  const Word* from;
  Span<const LocalIndex> at;
  Word* to;
  Index words;   ///< an element
  Index stride;  ///< from one element to the next where they are gathered, in words

  ZHALO_HD void prefetch(Index i) const {
    if (scatters) {
      prefetch_line(to + Index{at[i]} * words);
    } else {
      prefetch_line(from + Index{at[i]} * stride);
    }
  }

  ZHALO_HD void operator()(Index i) const {
    const Index source = scatters ? i * words : Index{at[i]} * stride;
    const Index target = (scatters ? Index{at[i]} : i) * words;
    for (Index w = 0; w < words; ++w) to[target + w] = from[source + w];
  }
};

template <bool scatters, class E>
void move_elements(const E& exec, const MovedColumn& column, Span<const LocalIndex> at) {
  const auto run = [&](auto word) {
    using Word = decltype(word);
    const Index words = column.element_size / static_cast<Index>(sizeof(Word));
    const Index stride =
        column.from_stride != 0 ? column.from_stride / static_cast<Index>(sizeof(Word)) : words;
    for_each(exec, at.size(),
             MoveElement<Word, scatters>{static_cast<const Word*>(column.from), at,
                                         static_cast<Word*>(column.to), words, stride});
  };
  const auto fits = [&](Index bytes) {
    const auto indices =
        reinterpret_cast<std::uintptr_t>(column.from) | reinterpret_cast<std::uintptr_t>(column.to);
    return column.element_size % bytes == 0 && column.from_stride % bytes == 0 &&
           indices % static_cast<std::uintptr_t>(bytes) == 0;
  };
  if (fits(8)) return run(std::uint64_t{});
  if (fits(4)) return run(std::uint32_t{});
  run(std::uint8_t{});
}

template <class E>
void gather(const E& exec, const MovedColumn& column, Span<const LocalIndex> at) {
  move_elements<false>(exec, column, at);
}

template <class E>
void scatter(const E& exec, const MovedColumn& column, Span<const LocalIndex> at) {
  move_elements<true>(exec, column, at);
}

}  // namespace zhalo::kernels
