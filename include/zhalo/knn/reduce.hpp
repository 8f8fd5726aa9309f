/// Reductions of neighbours by functors of the user's: lists are made and reduced chunk by chunk, so that memory does not grow with N k.
#pragma once

#include <string_view>
#include <type_traits>
#include <utility>

#include "zhalo/core/for_each.hpp"
#include "zhalo/knn/neighbour_lists.hpp"

namespace zhalo {

/// A column of the particles, of any trivially copyable type: one element per particle of this rank, in the caller's order (over
/// segments), in the memory of the context's Exec. Functors see it at the neighbours, whichever rank they are on.
template <class T>
struct ParticleColumn {
  static_assert(std::is_trivially_copyable_v<T>);
  std::string_view name;  ///< for messages
  const T* data = nullptr;
  Index num = 0;
  Index stride_bytes = sizeof(T);

  ParticleColumn(std::string_view column_name, Span<const T> values)
      : name(column_name), data(values.data()), num(values.size()) {}
  ParticleColumn(std::string_view column_name, const T* first, Index count, Index stride = sizeof(T))
      : name(column_name), data(first), num(count), stride_bytes(stride) {}
};

/// Throws InputError unless the column has an element for each of the rank's particles.
void validate_column(std::string_view name, Index num, Index num_particles);

/// What the functor returns for the neighbours of one query.
template <class Real, class Functor, class... Columns>
struct Reduction {
  static_assert(std::is_trivially_copyable_v<Functor>,
                "a reduction is copied to where it runs: it may hold values and pointers only");
  static_assert(
      std::is_invocable_v<const Functor&, const Neighbours<Real>&, const NeighbourColumn<Columns>&...>,
      "a reduction must be callable as f(const Neighbours<Real>&, const NeighbourColumn<T>&...) const, with one argument per "
      "column, in their order");
  using Result = std::invoke_result_t<const Functor&, const Neighbours<Real>&, const NeighbourColumn<Columns>&...>;
  static_assert(!std::is_void_v<Result> && !std::is_reference_v<Result>, "a reduction must return a value");
  static_assert(std::is_trivially_copyable_v<Result>,
                "what a reduction returns travels between ranks: it must be trivially copyable");
};

template <class... T>
struct ColumnTypes {};

template <class Real>
PlacedColumns<> placed_columns_from(const NeighbourLists<Real>&, int, ColumnTypes<>) {
  return {};
}
template <class Real, class First, class... Rest>
PlacedColumns<First, Rest...> placed_columns_from(const NeighbourLists<Real>& lists, int i, ColumnTypes<First, Rest...>) {
  return {lists.template column<First>(i), placed_columns_from(lists, i + 1, ColumnTypes<Rest...>{})};
}
/// The columns of the search, for functors.
template <class Real, class... Columns>
PlacedColumns<Columns...> placed_columns(const NeighbourLists<Real>& lists) {
  return placed_columns_from(lists, 0, ColumnTypes<Columns...>{});
}

/// Lets the columns travel with the particles. InputError unless each has an element for each particle of this rank.
template <class... Columns>
void add_columns([[maybe_unused]] NeighbourSearch& search, [[maybe_unused]] Index num_particles,
                 const ParticleColumn<Columns>&... columns) {
  (validate_column(columns.name, columns.num, num_particles), ...);
  (search.columns.push_back({columns.data, static_cast<Index>(sizeof(Columns)), columns.stride_bytes}), ...);
}

/// Reduces into the caller's memory (of the Exec): one element per query of this rank, in the caller's order. See knn_reduce.
template <class Real, class Functor, class Result, class... Columns>
KnnStatistics reduce_neighbours(const Context& context, const Particles<Real>& particles, const Particles<Real>* queries,
                                const Box& box, NeighbourSearch search, const Functor& functor, Span<Result> result,
                                const ParticleColumn<Columns>&... columns) {
  static_assert(std::is_same_v<typename Reduction<Real, Functor, Columns...>::Result, Result>,
                "the result column has another type than the reduction returns");
  return together(context.comm, [&] {
    add_columns(search, particles.num(), columns...);
    validate_column("the result", result.size(), queries == nullptr ? particles.num() : queries->num());
    NeighbourLists<Real> lists(context, particles, queries, box, search);
    while (lists.next()) {
      Buffer<Result> values(context.exec, lists.rows().num, "reduced values");
      for_each(context.exec, lists.rows().num,
               ReduceRow<Real, Functor, Result, Columns...>{lists.rows(), placed_columns<Real, Columns...>(lists), functor,
                                                            values.span()});
      lists.put(values.data(), static_cast<Index>(sizeof(Result)), result.data());
    }
    return lists.statistics();
  });
}

/// For every particle, functor(neighbours, columns...) over its k nearest neighbours (see knn): in the caller's order, in memory of the
/// context's Exec.
///
///   struct MeanMass {
///     ZHALO_HD float operator()(const Neighbours<float>& near, const NeighbourColumn<float>& mass) const { ... mass[i] ... }
///   };
///   auto mean = knn_reduce(context, particles, box, {.k = 32}, MeanMass{}, ParticleColumn("mass", mass));
///
/// Collective. The functor runs on the Exec: for a device compile the file with nvcc. Throws as knn, and InputError for a column that
/// has not one element per particle.
template <class Real, class Functor, class... Columns>
auto knn_reduce(const Context& context, const Particles<Real>& particles, const Box& box, const KnnOptions& options,
                const Functor& functor, const ParticleColumn<Columns>&... columns) {
  using Result = typename Reduction<Real, Functor, Columns...>::Result;
  return together(context.comm, [&] {
    Buffer<Result> result(context.exec, particles.num(), "reduced neighbours");
    reduce_neighbours<Real, Functor, Result, Columns...>(context, particles, nullptr, box, {options, {}}, functor,
                                                         result.span(), columns...);
    return result;
  });
}

/// The same for queries of their own: one result per query.
template <class Real, class Functor, class... Columns>
auto knn_reduce(const Context& context, const Particles<Real>& particles, const Particles<Real>& queries, const Box& box,
                const KnnOptions& options, const Functor& functor, const ParticleColumn<Columns>&... columns) {
  using Result = typename Reduction<Real, Functor, Columns...>::Result;
  return together(context.comm, [&] {
    Buffer<Result> result(context.exec, queries.num(), "reduced neighbours");
    reduce_neighbours<Real, Functor, Result, Columns...>(context, particles, &queries, box, {options, {}}, functor,
                                                         result.span(), columns...);
    return result;
  });
}

}  // namespace zhalo
