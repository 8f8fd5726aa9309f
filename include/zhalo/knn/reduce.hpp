/// Reductions of neighbours by functors of the user. Lists are made and reduced chunk by chunk, so
/// memory does not grow with N k.
#pragma once

#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "zhalo/core/for_each.hpp"
#include "zhalo/core/reductions.hpp"
#include "zhalo/knn/knn.hpp"
#include "zhalo/knn/neighbour_lists.hpp"

namespace zhalo {

/// A quantity of any targets.
template <class Real>
Buffer<double> neighbour_quantity_of(const Context& context, const KnnTargets<Real>& targets,
                                     const Box& box, const KnnOptions& options,
                                     const QuantityOptions& quantity) {
  const KnnOutput only{.distances = false, .indices = false, .quantities = {quantity}};
  return std::move(knn_of(context, targets, box, options, only).quantities[0]);
}

/// Computes a quantity of each particle's k nearest neighbours: one number per particle of this
/// rank, in the caller's order, in memory of the context's Exec. Sums run over the neighbours in
/// their order. So results are equal bit for bit for any number of ranks and threads. For several
/// quantities, or lists as well, knn() needs one search only: see KnnOutput::quantities.
/// Collective; throws as knn().
template <class Real>
Buffer<double> neighbour_quantity(const Context& context, const Particles<Real>& particles,
                                  const Box& box, const KnnOptions& options,
                                  const QuantityOptions& quantity) {
  return neighbour_quantity_of<Real>(context, particles, box, options, quantity);
}

/// The same at query points.
template <class Real>
Buffer<double> neighbour_quantity(const Context& context, const Queries<Real>& among,
                                  const Box& box, const KnnOptions& options,
                                  const QuantityOptions& quantity) {
  return neighbour_quantity_of<Real>(context, among, box, options, quantity);
}

/// The same in a domain, with the masses and velocities that it has. One number per particle of
/// species.queries, in the domain's order. Nothing is sorted. Collective; throws as knn().
template <class Real>
Buffer<double> neighbour_quantity(const Domain<Real>& domain, const KnnOptions& options,
                                  const QuantityOptions& quantity, const KnnSpecies& species = {}) {
  return neighbour_quantity_of<Real>(domain.context(), {domain, species}, domain.box(), options,
                                     quantity);
}

/// The columns of the neighbours that a quantity is computed from. A search keeps no column of
/// masses that are the same for all particles of all ranks.
struct QuantityNeeds {
  bool masses = false;
  bool velocities = false;

  /// Of these columns in 3 dimensions, as double.
  double bytes_per_particle() const { return (masses ? 8 : 0) + (velocities ? 24 : 0); }
};

/// What this quantity needs. On this rank alone. InputError for a quantity that does not exist.
QuantityNeeds needs_of(Quantity quantity);
/// What at least one of the quantities needs. On this rank alone.
QuantityNeeds needs_of(const std::vector<QuantityOptions>& quantities);

/// A column of the particles, of any trivially copyable type: one element per particle of this
/// rank, in the caller's order over segments, in memory of the context's Exec. Owns no memory.
/// Functors see it at the neighbours, whichever rank they are on.
template <class T>
struct ParticleColumn {
  static_assert(std::is_trivially_copyable_v<T>);
  std::string_view name;  ///< for error messages
  const T* data = nullptr;
  Index num = 0;
  Index stride_bytes = sizeof(T);

  ParticleColumn(std::string_view column_name, Span<const T> values)
      : name(column_name), data(values.data()), num(values.size()) {}
  ParticleColumn(std::string_view column_name, const T* first, Index count,
                 Index stride = sizeof(T))
      : name(column_name), data(first), num(count), stride_bytes(stride) {}
};

template <class T>
ParticleColumn(std::string_view, Span<T>) -> ParticleColumn<std::remove_const_t<T>>;
template <class T>
ParticleColumn(std::string_view, const std::vector<T>&) -> ParticleColumn<T>;

/// Throws InputError unless the column has one element for each of the rank's particles, at a
/// stride that is not 0.
void validate_column(std::string_view name, const ColumnView& column, Index num_particles);

/// A functor and the columns that it needs at the neighbours, in the order of its arguments. Made
/// by reduction().
template <class Functor, class... Columns>
struct Reduction {
  static_assert(std::is_trivially_copyable_v<Functor>,
                "a functor is copied to where it runs: it may hold values and pointers only");

  Functor functor;
  std::tuple<ParticleColumn<Columns>...> columns;

  /// The functor's result for one query among positions of type Real.
  template <class Real>
  static auto call(const Functor& functor, const Neighbours<Real>& near,
                   const NeighbourColumn<Columns>&... at) {
    static_assert(std::is_invocable_v<const Functor&, const Neighbours<Real>&,
                                      const NeighbourColumn<Columns>&...>,
                  "a reduction must be callable as f(const Neighbours<Real>&, const "
                  "NeighbourColumn<T>&...) const, with one argument per column, in their order");
    using Result = std::invoke_result_t<const Functor&, const Neighbours<Real>&,
                                        const NeighbourColumn<Columns>&...>;
    static_assert(!std::is_void_v<Result> && !std::is_reference_v<Result>,
                  "a reduction must return a value");
    static_assert(std::is_trivially_copyable_v<Result>,
                  "what a reduction returns travels between ranks: it must be trivially copyable");
    return functor(near, at...);
  }
  template <class Real>
  using Result =
      decltype(call(std::declval<const Functor&>(), std::declval<const Neighbours<Real>&>(),
                    std::declval<const NeighbourColumn<Columns>&>()...));
};

/// Makes a Reduction: reduction(MeanMass{}, ParticleColumn("mass", mass)).
template <class Functor, class... Columns>
Reduction<Functor, Columns...> reduction(const Functor& functor,
                                         const ParticleColumn<Columns>&... columns) {
  return {functor, {columns...}};
}
/// Returns a Reduction as it is. Turns a functor without columns into a Reduction.
template <class Functor, class... Columns>
const Reduction<Functor, Columns...>& as_reduction(const Reduction<Functor, Columns...>& whole) {
  return whole;
}
template <class Functor>
Reduction<Functor> as_reduction(const Functor& functor) {
  return {functor, {}};
}

template <class... T>
struct ColumnTypes {};

/// The columns of the search from number i on, as search_columns() returns them. Views: they own no
/// memory and are valid until the next chunk. Not collective. InputError for a type of another size
/// than the column's elements.
template <class Real>
SearchColumns<> search_columns_from(const NeighbourLists<Real>&, int, ColumnTypes<>) {
  return {};
}
template <class Real, class First, class... Rest>
SearchColumns<First, Rest...> search_columns_from(const NeighbourLists<Real>& lists, int i,
                                                  ColumnTypes<First, Rest...>) {
  return {lists.template column<First>(i),
          search_columns_from(lists, i + 1, ColumnTypes<Rest...>{})};
}
/// The columns of the search, as functors take them: see search_columns_from().
template <class Real, class... Columns>
SearchColumns<Columns...> search_columns(const NeighbourLists<Real>& lists) {
  return search_columns_from(lists, 0, ColumnTypes<Columns...>{});
}

/// Adds the columns of a reduction to a search. InputError unless each has one element for each
/// particle of this rank.
template <class Functor, class... Columns>
void add_columns(NeighbourSearch& search, Index num_particles,
                 const Reduction<Functor, Columns...>& whole) {
  const auto add = [&](const auto& column, Index size) {
    const ColumnView view{column.data, column.num, size, column.stride_bytes};
    validate_column(column.name, view, num_particles);
    search.columns.push_back(view);
  };
  std::apply(
      [&](const auto&... columns) { (add(columns, static_cast<Index>(sizeof(Columns))), ...); },
      whole.columns);
}

/// A search whose lists are reduced chunk by chunk.
template <class Real>
struct ReducedSearch {
  const Context& context;
  KnnTargets<Real> targets;
  const Box& box;
  NeighbourSearch search;

  /// Writes the results to memory of the caller (of the Exec): one element per query of this rank,
  /// in the order of NeighbourLists::put(). InputError for another number of elements. Collective.
  template <class Functor, class... Columns>
  KnnStatistics into(Span<typename Reduction<Functor, Columns...>::template Result<Real>> result,
                     const Reduction<Functor, Columns...>& whole) {
    return together(context.comm, [&] {
      if (result.size() != targets.num_queries())
        throw InputError("the memory for reduced values must have one element for each query");
      return reduce(result, whole);
    });
  }

  template <class Functor, class... Columns>
  auto run(const Reduction<Functor, Columns...>& whole) {
    using Result = typename Reduction<Functor, Columns...>::template Result<Real>;
    return together(context.comm, [&] {
      Buffer<Result> result(context.exec, targets.num_queries(), "reduced neighbours");
      reduce(result.span(), whole);
      return result;
    });
  }

 private:
  template <class Functor, class... Columns>
  KnnStatistics reduce(Span<typename Reduction<Functor, Columns...>::template Result<Real>> result,
                       const Reduction<Functor, Columns...>& whole) {
    using Result = typename Reduction<Functor, Columns...>::template Result<Real>;
    add_columns(search, targets.num_particles(), whole);
    const PhaseTimer timer(context, "reduce");
    NeighbourLists<Real> lists(context, targets, box, search);
    while (lists.queue_next()) {
      Buffer<Result> values(context.exec, lists.rows().num, "reduced values");
      for_each(context.exec, lists.rows().num,
               ReduceRow<Real, Functor, Result, Columns...>{{whole.functor},
                                                            lists.rows(),
                                                            search_columns<Real, Columns...>(lists),
                                                            values.span()});
      lists.put(values.data(), static_cast<Index>(sizeof(Result)), result.data());
    }
    return lists.statistics();
  }
};

/// For every particle: functor(neighbours, columns...) over its k nearest neighbours (see knn()).
/// Results are in the caller's order, in memory of the context's Exec.
///
///   struct MeanMass {
///     ZHALO_HD float operator()(const Neighbours<float>& near,
///                               const NeighbourColumn<float>& mass) const { ... mass[i] ... }
///   };
///   auto mean = knn_reduce(context, particles, box, {.k = 32},
///                          reduction(MeanMass{}, ParticleColumn("mass", mass)));
///
/// A functor without columns is given as it is. The functor runs on the Exec: for a device, compile
/// the file with nvcc. Collective. Throws as knn(), and InputError for a column that does not have
/// one element per particle.
template <class Real, class AnyReduction>
auto knn_reduce(const Context& context, const Particles<Real>& particles, const Box& box,
                const KnnOptions& options, const AnyReduction& whole) {
  return ReducedSearch<Real>{context, particles, box, {options, {}}}.run(as_reduction(whole));
}

/// The same for query points: one result per query.
template <class Real, class AnyReduction>
auto knn_reduce(const Context& context, const Queries<Real>& among, const Box& box,
                const KnnOptions& options, const AnyReduction& whole) {
  return ReducedSearch<Real>{context, among, box, {options, {}}}.run(as_reduction(whole));
}

/// The same in a domain. Columns have one element for each particle that this rank holds in the
/// domain, and results are in the domain's order. Nothing is sorted, and only what other ranks need
/// is sent.
template <class Real, class AnyReduction>
auto knn_reduce(const Domain<Real>& domain, const KnnOptions& options, const AnyReduction& whole,
                const KnnSpecies& species = {}) {
  return ReducedSearch<Real>{domain.context(), {domain, species}, domain.box(), {options, {}}}.run(
      as_reduction(whole));
}

}  // namespace zhalo
