/// Results of a chunk of queries, brought to the ranks and places that the queries came from.
#pragma once

#include "src/knn/placed_particles.hpp"

namespace zhalo {

template <class Real>
class WayBack {
 public:
  /// For the queries [first, first + num) of this rank. Collective.
  WayBack(const Context& context, const PlacedParticles<Real>& queries, Index first, Index num);

  /// values[i] of the i-th query becomes the element of `result` at that query's place. Collective.
  void put(const void* values, Index element_size, void* result) const;

 private:
  const Context& context_;
  bool alone_;
  ExchangePlan plan_;
  Buffer<LocalIndex> order_;    ///< queries in the order of their ranks
  Buffer<LocalIndex> indices_;  ///< of the results that come; alone: of the queries
};

}  // namespace zhalo
