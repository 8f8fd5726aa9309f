/// Point sets too large to look at every pair: some of the queries are compared with brute force.
#pragma once

#include <catch2/catch.hpp>

#include "tests/support/point_sets.hpp"
#include "tests/support/run_knn.hpp"

namespace zhalo::testing {

inline Context context_of(int threads) {
  Context context;
  context.exec = host_exec(threads);
  return context;
}

inline Wanted wanted_of(const KnnOptions& options) {
  return {options.k, options.include_self, options.max_radius};
}

/// Compares every `step`-th row with brute force.
template <class Real>
void check_rows(const NeighbourTable<Real>& found, const PointSet<Real>& points,
                const PointSet<Real>* queries, const KnnOptions& options, Index step) {
  const BruteNeighbours<Real> brute(points);
  NeighbourTable<Real> some, expected;
  for (Index i = 0; i < static_cast<Index>(found.size()); i += step) {
    some.push_back(found[static_cast<std::size_t>(i)]);
    expected.push_back(queries != nullptr ? brute.of(*queries, i, wanted_of(options))
                                          : brute.of_particle(i, wanted_of(options)));
  }
  INFO("k " << options.k << ", " << points.num() << " particles, every " << step << "th query");
  CHECK(difference(some, expected) == "");
}

/// Compares about 60 rows of a point set with brute force.
template <class Real>
void check_point_set(const PointSet<Real>& points, const KnnOptions& options) {
  const NeighbourTable<Real> found = knn_table(context_of(2), points, options);
  REQUIRE(static_cast<Index>(found.size()) == points.num());
  check_rows<Real>(found, points, nullptr, options, 1 + points.num() / 60);
}
template <class Real>
void check_queries(const PointSet<Real>& points, const PointSet<Real>& queries,
                   const KnnOptions& options) {
  const NeighbourTable<Real> found = knn_table(context_of(2), points, queries, options);
  REQUIRE(static_cast<Index>(found.size()) == queries.num());
  check_rows<Real>(found, points, &queries, options, 1 + queries.num() / 60);
}

template <class Real>
PointSet<Real> points_in(const Box& box, Shape shape, Index num, std::uint64_t seed) {
  PointSet<Real> points;
  points.box = box;
  points.linking_length = extent_of(box, 1)[0] / 16;
  Random random(seed);
  fill(points, random, shape, num);
  return points;
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
