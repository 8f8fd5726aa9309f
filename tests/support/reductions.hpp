/// A functor that notices every fault in what it is shown: it digests the whole list, in its order.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/support/brute_neighbours.hpp"
#include "zhalo/core/neighbours.hpp"
#include "zhalo/knn/reduce.hpp"

namespace zhalo::testing {

struct DigestOfList {
  Index num = 0;
  std::uint64_t indices = 0;         ///< in their order
  double sum_of_distances = 0;       ///< added in their order
  double sum_of_weights = 0;         ///< likewise
  std::int32_t bad_separations = 0;  ///< whose length is not the distance

  friend bool operator==(const DigestOfList& a, const DigestOfList& b) {
    return a.num == b.num && a.indices == b.indices && a.sum_of_distances == b.sum_of_distances &&
           a.sum_of_weights == b.sum_of_weights && a.bad_separations == b.bad_separations;
  }
};

struct Digest {
  template <class Real>
  ZHALO_HD DigestOfList operator()(const Neighbours<Real>& near,
                                   const NeighbourColumn<double>& weight) const {
    constexpr double tolerance = sizeof(Real) == 4 ? 1e-6 : 1e-13;  // in boxes of length 1
    DigestOfList digest;
    digest.num = near.size();
    for (Index i = 0; i < near.size(); ++i) {
      digest.indices =
          digest.indices * 1099511628211U + static_cast<std::uint64_t>(near.index(i)) + 1;
      digest.sum_of_distances += near.distance(i);
      digest.sum_of_weights += weight[i];
      const Vec3d d = near.separation(i);
      const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
      const double error = near.distance2(i) - r2;
      if (!((error < 0 ? -error : error) <= tolerance * (near.distance(i) + tolerance)))
        ++digest.bad_separations;
    }
    return digest;
  }
};

/// The same of a list that brute force found.
template <class Real>
DigestOfList digest_of(const std::vector<FoundNeighbour<Real>>& list,
                       const std::vector<double>& weight) {
  DigestOfList digest;
  for (const FoundNeighbour<Real>& one : list) {
    ++digest.num;
    digest.indices = digest.indices * 1099511628211U + static_cast<std::uint64_t>(one.index) + 1;
    digest.sum_of_distances += static_cast<double>(one.distance);
    digest.sum_of_weights += weight[static_cast<std::size_t>(one.index)];
  }
  return digest;
}

/// Values of a column, by global index.
inline std::vector<double> weights(Index num) {
  std::vector<double> values;
  for (Index i = 0; i < num; ++i) values.push_back(1 + 0.25 * static_cast<double>(i % 17));
  return values;
}

/// The lists of a search with the column of weights, digested as they come, in the order of the
/// caller's queries.
template <class Real>
std::vector<DigestOfList> digests_of_chunks(const Context& context, NeighbourLists<Real>& lists) {
  std::vector<DigestOfList> found(static_cast<std::size_t>(lists.num_queries()));
  while (lists.next()) {
    std::vector<DigestOfList> values(static_cast<std::size_t>(lists.rows().num));
    const SearchColumns<double> columns{lists.template column<double>(0), {}};
    for_each(
        context.exec, lists.rows().num,
        ReduceRow<Real, Digest, DigestOfList, double>{
            {Digest{}}, lists.rows(), columns, {values.data(), static_cast<Index>(values.size())}});
    lists.put(values.data(), static_cast<Index>(sizeof(DigestOfList)), found.data());
  }
  return found;
}

}  // namespace zhalo::testing
