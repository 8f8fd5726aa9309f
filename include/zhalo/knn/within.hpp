/// All neighbours within a radius: counts, reductions, and a functor for each pair.
#pragma once

#include "zhalo/knn/reduce.hpp"

namespace zhalo {

struct WithinOptions {
  /// Neighbours at distances <= radius, in the unit of the positions; must not be negative.
  double radius = 0;
  /// Among the particles themselves: each is its own neighbour.
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

/// Neighbours of each particle within the radius, in the caller's order, in memory of the context's Exec. No lists are made. Collective;
/// throws as knn.
template <class Real>
Buffer<Index> count_within(const Context& context, const Particles<Real>& particles, const Box& box,
                           const WithinOptions& options);
/// Of each query, which is no particle.
template <class Real>
Buffer<Index> count_within(const Context& context, const Particles<Real>& particles, const Particles<Real>& queries,
                           const Box& box, const WithinOptions& options);

/// knn_reduce over all neighbours within the radius, nearest first. Lists are made chunk by chunk: those of the queries of one leaf have to
/// fit into memory. Collective; throws as knn_reduce.
template <class Real, class Functor, class... Columns>
auto reduce_within(const Context& context, const Particles<Real>& particles, const Box& box, const WithinOptions& options,
                   const Functor& functor, const ParticleColumn<Columns>&... columns) {
  using Result = typename Reduction<Real, Functor, Columns...>::Result;
  return together(context.comm, [&] {
    Buffer<Result> result(context.exec, particles.num(), "reduced neighbours");
    reduce_neighbours<Real, Functor, Result, Columns...>(context, particles, nullptr, box, options.search(), functor,
                                                         result.span(), columns...);
    return result;
  });
}
template <class Real, class Functor, class... Columns>
auto reduce_within(const Context& context, const Particles<Real>& particles, const Particles<Real>& queries, const Box& box,
                   const WithinOptions& options, const Functor& functor, const ParticleColumn<Columns>&... columns) {
  using Result = typename Reduction<Real, Functor, Columns...>::Result;
  return together(context.comm, [&] {
    Buffer<Result> result(context.exec, queries.num(), "reduced neighbours");
    reduce_neighbours<Real, Functor, Result, Columns...>(context, particles, &queries, box, options.search(), functor,
                                                         result.span(), columns...);
    return result;
  });
}

/// Calls functor(neighbours, i, columns...) for each pair of a particle and its i-th neighbour within the radius: on the rank that searches
/// for the particle, in any order and at the same time, so that sums in the functor must be atomic. On a device the work is done when the
/// call returns. Collective; throws as knn_reduce.
template <class Real, class Functor, class... Columns>
void for_each_neighbour_within(const Context& context, const Particles<Real>& particles, const Box& box,
                               const WithinOptions& options, const Functor& functor,
                               const ParticleColumn<Columns>&... columns) {
  static_assert(
      std::is_invocable_v<const Functor&, const Neighbours<Real>&, Index, const NeighbourColumn<Columns>&...>,
      "the functor must be callable as f(const Neighbours<Real>&, Index, const NeighbourColumn<T>&...) const, with one "
      "argument per column, in their order");
  context.comm.together([&] {
    NeighbourSearch search = options.search();
    add_columns(search, particles.num(), columns...);
    NeighbourLists<Real> lists(context, particles, nullptr, box, search);
    while (lists.next()) {
      for_each(context.exec, lists.rows().num,
               VisitPairs<Real, Functor, Columns...>{lists.rows(), placed_columns<Real, Columns...>(lists), functor});
      wait(context.exec);
    }
  });
}

}  // namespace zhalo
