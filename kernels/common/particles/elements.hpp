/// Elements of columns: numbered, filled, gathered, scattered; and where received ones came from.
#pragma once

#include <cstdint>

#include "kernels/common/backend.hpp"
#include "kernels/particles.hpp"

namespace zhalo::kernels {

template <class Real>
struct Clear {
  Span<Real> values;

  ZHALO_HD void operator()(Index i) const { values[i] = 0; }
};

template <class E, class Real>
void clear(const E& exec, Span<Real> values) {
  for_each(exec, values.size(), Clear<Real>{values});
}

template <class T>
struct FillIndices {
  Span<T> to;
  T value;

  ZHALO_HD void operator()(Index i) const { to[i] = value; }
};

template <class E, class T>
void fill(const E& exec, Span<T> to, T value) {
  for_each(exec, to.size(), FillIndices<T>{to, value});
}

template <class T>
struct Number {
  Span<T> indices;

  ZHALO_HD void operator()(Index i) const { indices[i] = static_cast<T>(i); }
};

template <class E, class T>
void number(const E& exec, Span<T> indices) {
  for_each(exec, indices.size(), Number<T>{indices});
}

struct ScatterNumber {
  Span<const LocalIndex> at;
  Index first;
  Span<Index> to;

  ZHALO_HD void operator()(Index i) const { to[at[i]] = first + i; }
};

template <class E>
void scatter_numbers(const E& exec, Span<const LocalIndex> at, Index first, Span<Index> to) {
  for_each(exec, at.size(), ScatterNumber{at, first, to});
}

struct MakeGlobal {
  Span<const LocalIndex> local;
  Index first_index;
  Span<Index> indices;

  ZHALO_HD void operator()(Index i) const { indices[i] = first_index + local[i]; }
};

template <class E>
void make_global(const E& exec, Span<const LocalIndex> local, Index first_index,
                 Span<Index> indices) {
  for_each(exec, local.size(), MakeGlobal{local, first_index, indices});
}

struct NumberLocation {
  std::int32_t rank;
  Span<ParticleLocation> locations;

  ZHALO_HD void operator()(Index i) const { locations[i] = {rank, static_cast<LocalIndex>(i)}; }
};

template <class E>
void number_locations(const E& exec, int rank, Span<ParticleLocation> locations) {
  for_each(exec, locations.size(), NumberLocation{rank, locations});
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
    const Word* const element = scatters ? to + Index{at[i]} * words : from + Index{at[i]} * stride;
    prefetch_from_to(element, element + words - 1);
  }

  ZHALO_HD void operator()(Index i) const {
    const Index source = scatters ? i * words : Index{at[i]} * stride;
    const Index target = (scatters ? Index{at[i]} : i) * words;
    for (Index w = 0; w < words; ++w) to[target + w] = from[source + w];
  }
};

template <bool scatters, class E>
void move_elements(const E& exec, const ColumnView& from, Span<const LocalIndex> at, void* to) {
  const auto run = [&](auto word) {
    using Word = decltype(word);
    const Index words = from.element_size / static_cast<Index>(sizeof(Word));
    const Index stride =
        from.stride_bytes != 0 ? from.stride_bytes / static_cast<Index>(sizeof(Word)) : words;
    for_each(exec, at.size(),
             MoveElement<Word, scatters>{static_cast<const Word*>(from.data), at,
                                         static_cast<Word*>(to), words, stride});
  };
  const auto fits = [&](Index bytes) {
    const auto indices =
        reinterpret_cast<std::uintptr_t>(from.data) | reinterpret_cast<std::uintptr_t>(to);
    return from.element_size % bytes == 0 && from.stride_bytes % bytes == 0 &&
           indices % static_cast<std::uintptr_t>(bytes) == 0;
  };
  if (fits(8)) return run(std::uint64_t{});
  if (fits(4)) return run(std::uint32_t{});
  run(std::uint8_t{});
}

template <class E>
void gather(const E& exec, const ColumnView& from, Span<const LocalIndex> at, void* to) {
  move_elements<false>(exec, from, at, to);
}

template <class E>
void scatter(const E& exec, const ColumnView& from, Span<const LocalIndex> at, void* to) {
  move_elements<true>(exec, from, at, to);
}

struct FindOrigin {
  SourcesView sources;
  Span<const LocalIndex> order;
  Span<const Index> global_index;
  OriginsView origins;

  ZHALO_HD void operator()(Index i) const {
    Index low = 0;
    Index high = sources.first.size() - 1;
    while (low < high) {
      const Index middle = (low + high + 1) / 2;
      if (sources.receive_offset[middle] <= Index{order[i]}) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    origins.rank[i] = static_cast<std::uint64_t>(low);
    origins.index[i] = static_cast<LocalIndex>(global_index[i] - sources.first[low]);
  }
};

template <class E>
void find_origins(const E& exec, const SourcesView& sources, Span<const LocalIndex> order,
                  Span<const Index> global_index, const OriginsView& origins) {
  for_each(exec, origins.index.size(), FindOrigin{sources, order, global_index, origins});
}

ZHALO_INSTANTIATE(clear, float);
ZHALO_INSTANTIATE(clear, double);
ZHALO_INSTANTIATE(clear, Index);
ZHALO_INSTANTIATE(clear, LocalIndex);
ZHALO_INSTANTIATE(fill, LocalIndex);
ZHALO_INSTANTIATE(fill, Index);
ZHALO_INSTANTIATE(number, LocalIndex);
ZHALO_INSTANTIATE(number, Index);
ZHALO_INSTANTIATE(scatter_numbers);
ZHALO_INSTANTIATE(make_global);
ZHALO_INSTANTIATE(number_locations);
ZHALO_INSTANTIATE(gather);
ZHALO_INSTANTIATE(scatter);
ZHALO_INSTANTIATE(find_origins);

}  // namespace zhalo::kernels
