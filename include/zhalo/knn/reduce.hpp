/// Lists of neighbours, and their reductions by functors of the user. Lists are made and reduced
/// chunk by chunk, so memory does not grow with N k.
#pragma once

#include <memory>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "zhalo/core/for_each.hpp"
#include "zhalo/core/neighbours.hpp"
#include "zhalo/core/reductions.hpp"
#include "zhalo/knn/knn.hpp"

namespace zhalo {

// Lists of neighbours, made chunk by chunk so that they never exist all at once. knn, the
// reductions and the searches within a radius are built on them.

/// What to list for each query: the k nearest neighbours within max_radius or, with k == 0, all
/// neighbours within max_radius, which must then be finite.
struct NeighbourSearch {
  int k = 0;
  int min_k = 0;  ///< smallest valid k: 1 for kNN, 0 for radius searches
  double max_radius = std::numeric_limits<double>::infinity();
  bool include_self = true;
  int leaf_size = 32;
  Index chunk_bytes = 0;
  std::vector<ColumnView> columns{};  ///< of the particles
  bool counts_only = false;           ///< with k == 0: only NeighbourRows::num_within, no lists

  NeighbourSearch() = default;
  NeighbourSearch(const KnnOptions& options, std::vector<ColumnView> carried)
      : k(options.k),
        min_k(1),
        max_radius(options.max_radius),
        include_self(options.include_self),
        leaf_size(options.leaf_size),
        chunk_bytes(options.chunk_bytes),
        columns(std::move(carried)) {}
};

/// Iterates over chunks of queries. The constructor, next(), queue_next() and put() are collective.
/// All ranks see the same number of chunks; some may be empty.
///
///   NeighbourLists<Real> lists(context, particles, box, search);
///   while (lists.next()) { ... lists.rows() ... lists.put(values, sizeof(T), result); }
template <class Real>
class NeighbourLists {
 public:
  /// Sorts particles and queries and builds the tree, or takes those of a domain (then the box is
  /// the domain's). Throws as knn(). The context must outlive it.
  NeighbourLists(const Context& context, const KnnTargets<Real>& targets, const Box& box,
                 const NeighbourSearch& search);

  /// Makes the lists of the next chunk; false if there are no more. Views from rows() and column()
  /// are then invalid.
  bool next();
  /// The same, but the lists are only queued on the Exec: a device may still be at work on them.
  /// For callers that queue what they do with the rows, too. When it returns false, all that was
  /// queued is done.
  bool queue_next();
  const NeighbourRows<Real>& rows() const;
  /// Column number i of the search, for the particles of the rows.
  template <class T>
  SearchColumn<T> column(int i) const {
    return column_view(i, static_cast<Index>(sizeof(T))).template as<T>();
  }
  /// The same without its type. InputError if there is no such column or its elements have another
  /// size.
  SearchColumnView column_view(int i, Index element_size) const;

  /// Sends one value per row of this chunk (in the order of rows) to the rank of the query.
  /// `result` has one element for each query of this rank, in the caller's order, or in a domain's
  /// order if the search is in a domain.
  void put(const void* values, Index element_size, void* result);
  /// Result row of each row of this chunk, for kernels that write results in place. Empty if
  /// results must go through put(): on several ranks, and in a domain. Not collective. The view is
  /// of memory of the Exec, and valid until the next chunk.
  Span<const LocalIndex> result_rows() const;

  Index num_queries() const;   ///< on this rank, in the order of results
  Index num_searched() const;  ///< rows over all chunks on this rank
  const KnnStatistics& statistics() const;

  struct State;

 private:
  std::shared_ptr<State> state_;
};

// Quantities, and reductions by functors of the user.

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

  /// One element per query of this rank, in the order of NeighbourLists::put(). Collective.
  template <class Functor, class... Columns>
  auto run(const Reduction<Functor, Columns...>& whole) {
    using Result = typename Reduction<Functor, Columns...>::template Result<Real>;
    return together(context.comm, [&] {
      Buffer<Result> result(context.exec, targets.num_queries(), "reduced neighbours");
      add_columns(search, targets.num_particles(), whole);
      const PhaseTimer timer(context, "reduce");
      NeighbourLists<Real> lists(context, targets, box, search);
      while (lists.queue_next()) {
        const NeighbourRows<Real> rows = lists.rows();
        Buffer<Result> values(context.exec, rows.num, "reduced values");
        for_each(
            context.exec, rows.num,
            ReduceRow<Real, Functor, Result, Columns...>{
                {whole.functor}, rows, search_columns<Real, Columns...>(lists), values.span()});
        lists.put(values.data(), static_cast<Index>(sizeof(Result)), result.data());
      }
      return result;
    });
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
