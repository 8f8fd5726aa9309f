/// Larger clouds than every pair of which could be looked at: some of the queries are compared with brute force.
#pragma once

#include <catch2/catch.hpp>

#include "tests/support/clouds.hpp"
#include "tests/support/run_knn.hpp"

namespace zhalo::testing {

inline Context context_of(int threads) {
  Context context;
  context.exec = host_exec(threads);
  return context;
}

inline Wanted wanted_of(const KnnOptions& options) { return {options.k, options.include_self, options.max_radius}; }

/// Compares every `step`-th row with brute force.
template <class Real>
void check_rows(const NeighbourTable<Real>& found, const Cloud<Real>& cloud, const Cloud<Real>* queries,
                const KnnOptions& options, Index step) {
  const BruteNeighbours<Real> brute(cloud);
  NeighbourTable<Real> some, expected;
  for (Index i = 0; i < static_cast<Index>(found.size()); i += step) {
    some.push_back(found[static_cast<std::size_t>(i)]);
    expected.push_back(queries != nullptr ? brute.of(*queries, i, wanted_of(options))
                                          : brute.of_particle(i, wanted_of(options)));
  }
  INFO("k " << options.k << ", " << cloud.num() << " particles, every " << step << "th query");
  CHECK(difference(some, expected) == "");
}

/// About 60 of a cloud's rows.
template <class Real>
void check_cloud(const Cloud<Real>& cloud, const KnnOptions& options) {
  const NeighbourTable<Real> found = knn_table(context_of(2), cloud, options);
  REQUIRE(static_cast<Index>(found.size()) == cloud.num());
  check_rows<Real>(found, cloud, nullptr, options, 1 + cloud.num() / 60);
}
template <class Real>
void check_queries(const Cloud<Real>& cloud, const Cloud<Real>& queries, const KnnOptions& options) {
  const NeighbourTable<Real> found = knn_table(context_of(2), cloud, queries, options);
  REQUIRE(static_cast<Index>(found.size()) == queries.num());
  check_rows<Real>(found, cloud, &queries, options, 1 + queries.num() / 60);
}

template <class Real>
Cloud<Real> cloud_in(const Box& box, Shape shape, Index num, std::uint64_t seed) {
  Cloud<Real> cloud;
  cloud.box = box;
  cloud.linking_length = extent_of(box, 1)[0] / 16;
  Random random(seed);
  fill(cloud, random, shape, num);
  return cloud;
}

/// [lo, lo + length) on every axis.
inline Box cube(double lo, double length, bool periodic, int dimensions = 3) {
  Box box;
  box.dimensions = dimensions;
  for (int axis = 0; axis < dimensions; ++axis) {
    box.lo[axis] = lo;
    box.length[axis] = length;
    box.periodic[axis] = periodic;
  }
  return box;
}

}  // namespace zhalo::testing
