/// Elements of columns; looking at masses and types; packing columns.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "kernels/common/backend.hpp"
#include "kernels/particles.hpp"

namespace zhalo::kernels {

// Elements of columns: numbered, filled, gathered, scattered; and where received ones came from.

template <class T>
struct Fill {
  Span<T> to;
  T value;

  ZHALO_HD void operator()(Index i) const { to[i] = value; }
};

template <class E, class T>
void fill(const E& exec, Span<T> to, T value) {
  for_each(exec, to.size(), Fill<T>{to, value});
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

template <class T>
struct Shift {
  Span<const T> from;
  Index by;
  Span<Index> to;

  ZHALO_HD void operator()(Index i) const { to[i] = from[i] + by; }
};

template <class E, class T>
void shift(const E& exec, Span<const T> from, Index by, Span<Index> to) {
  for_each(exec, to.size(), Shift<T>{from, by, to});
}

struct AddCount {
  Span<const LocalIndex> from;
  Span<Index> to;

  ZHALO_HD void operator()(Index i) const { to[i] += Index{from[i]}; }
};

template <class E>
void add_counts(const E& exec, Span<const LocalIndex> from, Span<Index> to) {
  for_each(exec, to.size(), AddCount{from, to});
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

ZHALO_INSTANTIATE_REALS(fill);
ZHALO_INSTANTIATE(fill, Index);
ZHALO_INSTANTIATE(fill, LocalIndex);
ZHALO_INSTANTIATE(fill, std::uint8_t);
ZHALO_INSTANTIATE(number, LocalIndex);
ZHALO_INSTANTIATE(number, Index);
ZHALO_INSTANTIATE(scatter_numbers);
ZHALO_INSTANTIATE(shift, Index);
ZHALO_INSTANTIATE(shift, LocalIndex);
ZHALO_INSTANTIATE(add_counts);
ZHALO_INSTANTIATE(number_locations);
ZHALO_INSTANTIATE(gather);
ZHALO_INSTANTIATE(scatter);
ZHALO_INSTANTIATE(find_origins);

// Looking at masses and types, packing columns.

template <class Real>
struct SummarizeColumns {
  ParticlesView<Real> particles;
  Span<const Index> global_index;
  int num_types;

  ZHALO_HD Index index(Index i) const { return global_index.empty() ? i : global_index[i]; }

  ZHALO_HD ColumnSummary operator()(Index i) const {
    const ParticleRow<Real> p = particles[i];
    const bool bad_mass = !is_mass(p.mass(particles.uniform_mass));
    const bool bad_type = p.type() >= num_types;
    return {bad_mass ? 1 : 0, bad_mass ? index(i) : last, bad_type ? 1 : 0,
            bad_type ? index(i) : last};
  }

  static constexpr Index last = std::numeric_limits<Index>::max();
};

struct CombineColumnSummaries {
  ZHALO_HD ColumnSummary operator()(const ColumnSummary& a, const ColumnSummary& b) const {
    return {a.num_bad_mass + b.num_bad_mass,
            a.first_bad_mass < b.first_bad_mass ? a.first_bad_mass : b.first_bad_mass,
            a.num_bad_type + b.num_bad_type,
            a.first_bad_type < b.first_bad_type ? a.first_bad_type : b.first_bad_type};
  }
};

template <class E, class Real>
void summarize_columns(const E& exec, const ParticlesView<Real>& particles,
                       Span<const Index> global_index, int num_types, ColumnSummary* summary) {
  using Summarize = SummarizeColumns<Real>;
  queue_reduce(exec, particles.num,
               MapReduce{ColumnSummary{0, Summarize::last, 0, Summarize::last},
                         Summarize{particles, global_index, num_types}, CombineColumnSummaries{}},
               summary);
}

/// The bits of a magnitude, which ascend with it; 0 for what is not finite. The host compares whole
/// numbers in vectors: with a sign, since not all vectors compare others.
template <class Real>
struct FiniteMagnitude {
  using Bits = std::conditional_t<sizeof(Real) == 4, std::int32_t, std::int64_t>;
  static constexpr Real largest = std::numeric_limits<Real>::max();
  static constexpr Bits all_but_sign = std::numeric_limits<Bits>::max();
  Span<const Real> values;

  ZHALO_HD Bits operator()(Index i) const {
    const Bits bits = bits_of(values[i]) & all_but_sign;
    return bits <= bits_of(largest) ? bits : 0;
  }

  ZHALO_HD static Bits bits_of(Real value) {
    Bits bits;
    memcpy(&bits, &value, sizeof(Real));
    return bits;
  }
};

struct Larger {
  template <class T>
  ZHALO_HD T operator()(T a, T b) const {
    return a > b ? a : b;
  }
};

template <class E, class Real>
Real max_magnitude(const E& exec, Span<const Real> values) {
  using Magnitude = FiniteMagnitude<Real>;
  const auto bits = transform_reduce(exec, values.size(), typename Magnitude::Bits{0},
                                     Magnitude{values}, Larger{});
  Real largest;
  memcpy(&largest, &bits, sizeof(Real));
  return largest;
}

template <class Real>
struct MarkType {
  ParticlesView<Real> particles;
  TypeSet types;
  Span<LocalIndex> marks;

  ZHALO_HD void operator()(Index i) const {
    const auto p = particles[i];
    marks[i] = types.has(p.type()) ? 1 : 0;
  }
};

template <class E, class Real>
void mark_types(const E& exec, const ParticlesView<Real>& particles, const TypeSet& types,
                Span<LocalIndex> marks) {
  for_each(exec, marks.size(), MarkType<Real>{particles, types, marks});
}

/// Writes a particle's columns.
template <class Real>
struct PackRow {
  ParticlesView<Real> particles;
  PackedColumns<Real> to;

  template <class T>
  ZHALO_HD static void put(Span<T> column, Index index, double value) {
    if (!column.empty()) column[index] = static_cast<T>(value);
  }

  ZHALO_HD void operator()(const ParticleRow<Real>& p, Index i) const {
    const double mass = p.mass(particles.uniform_mass);
    for (int axis = 0; axis < particles.dimensions; ++axis) {
      const Index index = i * particles.dimensions + axis;
      const double velocity = p.segment.velocity[axis] ? p.segment.velocity[axis][p.row] : 0;
      if (!to.pos.empty()) to.pos[index] = p.segment.pos[axis][p.row];
      put(to.velocity_float, index, velocity);
      put(to.velocity, index, velocity);
    }
    put(to.mass_float, i, mass);
    put(to.mass, i, mass);
    put(to.type, i, p.type());
  }
};

ZHALO_INSTANTIATE_REALS(summarize_columns);
ZHALO_INSTANTIATE_REALS(max_magnitude);
ZHALO_INSTANTIATE_REALS(mark_types);

}  // namespace zhalo::kernels
