/// All neighbours within a radius: counts, reductions, and a functor for each pair.
#pragma once

#include "zhalo/knn/reduce.hpp"

namespace zhalo {

struct WithinOptions {
  /// Neighbours at distances <= radius, in the unit of the positions; finite and not negative.
  double radius = 0;
  /// For searches of particles among themselves: each particle is its own neighbour.
  bool include_self = true;
  int leaf_size = 32;     ///< as KnnOptions
  Index chunk_bytes = 0;  ///< as KnnOptions

  NeighbourSearch search() const {
    NeighbourSearch search;
    search.max_radius = radius;
    search.include_self = include_self;
    search.leaf_size = leaf_size;
    search.chunk_bytes = chunk_bytes;
    return search;
  }
};

/// count_within() of any targets.
template <class Real>
Buffer<Index> count_within_of(const Context& context, const KnnTargets<Real>& targets,
                              const Box& box, const WithinOptions& options);

/// Counts the neighbours of each particle within the radius: one number per particle of this rank,
/// in the caller's order, in memory of the context's Exec. No lists are made. Collective; throws as
/// knn().
template <class Real>
Buffer<Index> count_within(const Context& context, const Particles<Real>& particles, const Box& box,
                           const WithinOptions& options) {
  return count_within_of<Real>(context, particles, box, options);
}
/// The same for query points.
template <class Real>
Buffer<Index> count_within(const Context& context, const Queries<Real>& among, const Box& box,
                           const WithinOptions& options) {
  return count_within_of<Real>(context, among, box, options);
}
/// The same in a domain: one number per particle of species.queries, in the domain's order. Nothing
/// is sorted, and only what other ranks need is sent. Collective; throws as knn().
template <class Real>
Buffer<Index> count_within(const Domain<Real>& domain, const WithinOptions& options,
                           const KnnSpecies& species = {}) {
  return count_within_of<Real>(domain.context(), {domain, species}, domain.box(), options);
}

/// knn_reduce() over all neighbours within the radius, nearest first. Lists are made chunk by
/// chunk; those of the queries of one leaf must fit into memory. Collective; throws as
/// knn_reduce().
template <class Real, class AnyReduction>
auto reduce_within(const Context& context, const Particles<Real>& particles, const Box& box,
                   const WithinOptions& options, const AnyReduction& whole) {
  return ReducedSearch<Real>{context, particles, box, options.search()}.run(as_reduction(whole));
}
/// The same for query points: one result per query. Collective; throws as knn_reduce().
template <class Real, class AnyReduction>
auto reduce_within(const Context& context, const Queries<Real>& among, const Box& box,
                   const WithinOptions& options, const AnyReduction& whole) {
  return ReducedSearch<Real>{context, among, box, options.search()}.run(as_reduction(whole));
}
/// The same in a domain. Columns have one element for each particle of species.targets that this
/// rank holds. Results are one per particle of species.queries. Both are in the domain's order.
/// Nothing is sorted. Collective; throws as knn_reduce().
template <class Real, class AnyReduction>
auto reduce_within(const Domain<Real>& domain, const WithinOptions& options,
                   const AnyReduction& whole, const KnnSpecies& species = {}) {
  return ReducedSearch<Real>{domain.context(), {domain, species}, domain.box(), options.search()}
      .run(as_reduction(whole));
}

/// Calls the functor for the pairs of all chunks, on the Exec. Collective.
template <class Real, class Functor, class... Columns>
void visit_pairs(const Context& context, const KnnTargets<Real>& targets, const Box& box,
                 NeighbourSearch search, const Reduction<Functor, Columns...>& whole) {
  static_assert(std::is_invocable_v<const Functor&, const Neighbours<Real>&, Index,
                                    const NeighbourColumn<Columns>&...>,
                "the functor must be callable as f(const Neighbours<Real>&, Index, const "
                "NeighbourColumn<T>&...) const, with one argument per column, in their order");
  add_columns(search, targets.num_particles(), whole);
  NeighbourLists<Real> lists(context, targets, box, search);
  while (lists.queue_next()) {
    for_each(context.exec, lists.rows().num,
             VisitPairs<Real, Functor, Columns...>{
                 {whole.functor}, lists.rows(), search_columns<Real, Columns...>(lists)});
  }
}

/// Calls functor(neighbours, i, columns...) for each pair of a particle and its i-th neighbour
/// within the radius. Calls run on the rank that searches for the particle, in any order and
/// concurrently. So sums in the functor must be atomic. Columns are given as in knn_reduce(). When
/// the function returns, the work is done, on a device too. Collective; throws as knn_reduce().
template <class Real, class AnyReduction>
void for_each_neighbour_within(const Context& context, const Particles<Real>& particles,
                               const Box& box, const WithinOptions& options,
                               const AnyReduction& functor) {
  context.comm.together(
      [&] { visit_pairs<Real>(context, particles, box, options.search(), as_reduction(functor)); });
}

/// The same in a domain. Columns have one element for each particle of species.targets that this
/// rank holds, in the domain's order. Nothing is sorted. Collective; throws as knn_reduce().
template <class Real, class AnyReduction>
void for_each_neighbour_within(const Domain<Real>& domain, const WithinOptions& options,
                               const AnyReduction& functor, const KnnSpecies& species = {}) {
  domain.context().comm.together([&] {
    visit_pairs<Real>(domain.context(), {domain, species}, domain.box(), options.search(),
                      as_reduction(functor));
  });
}

}  // namespace zhalo
