/// The library's neighbours of a point set, as rows.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "tests/support/brute_neighbours.hpp"
#include "tests/support/point_sets.hpp"
#include "zhalo/knn/knn.hpp"

namespace zhalo::testing {

template <class Real>
using NeighbourTable = std::vector<std::vector<FoundNeighbour<Real>>>;

template <class Real>
Particles<Real> particles_of(const PointSet<Real>& points) {
  Particles<Real> particles;
  particles.dimensions = points.box.dimensions;
  particles.segments = {
      ParticleSegment<Real>::interleaved(points.pos.data(), points.num(), points.box.dimensions)};
  return particles;
}

inline KnnOptions options_of(const Wanted& wanted) {
  return {.k = static_cast<int>(wanted.k),
          .include_self = wanted.include_self,
          .max_radius = wanted.max_radius};
}

/// Rows without what fills them up.
template <class Real>
NeighbourTable<Real> table_of(const Exec& exec, const KnnResult<Real>& result) {
  const std::vector<Real> distance = to_host(exec, result.distance);
  const std::vector<Index> index = to_host(exec, result.index);
  NeighbourTable<Real> table;
  for (Index row = 0; row < result.num_rows; ++row) {
    table.emplace_back();
    for (std::size_t at = static_cast<std::size_t>(row * result.k);
         at < static_cast<std::size_t>((row + 1) * result.k); ++at) {
      if (index[at] >= 0) table.back().push_back({distance[at], index[at]});
    }
  }
  return table;
}

template <class Real>
NeighbourTable<Real> knn_table(const Context& context, const PointSet<Real>& points,
                               const KnnOptions& options) {
  return table_of(context.exec, knn(context, particles_of(points), points.box, options));
}
template <class Real>
NeighbourTable<Real> knn_table(const Context& context, const PointSet<Real>& points,
                               const PointSet<Real>& queries, const KnnOptions& options) {
  return table_of(context.exec, knn(context, Queries{particles_of(queries), particles_of(points)},
                                    points.box, options));
}

/// Where two tables differ first, in words; empty if they are equal.
template <class Real>
std::string difference(const NeighbourTable<Real>& found, const NeighbourTable<Real>& wanted) {
  if (found.size() != wanted.size())
    return fmt::format("{} rows, not {}", found.size(), wanted.size());
  for (std::size_t row = 0; row < found.size(); ++row) {
    if (found[row].size() != wanted[row].size())
      return fmt::format("row {} has {} neighbours, not {}", row, found[row].size(),
                         wanted[row].size());
    for (std::size_t i = 0; i < found[row].size(); ++i) {
      const FoundNeighbour<Real>& a = found[row][i];
      const FoundNeighbour<Real>& b = wanted[row][i];
      if (!(a == b))
        return fmt::format("row {}, neighbour {}: {} at {}, not {} at {}", row, i, a.index,
                           a.distance, b.index, b.distance);
    }
  }
  return {};
}

template <class Real>
NeighbourTable<Real> brute_table(const PointSet<Real>& points, const Wanted& wanted) {
  const BruteNeighbours<Real> brute(points);
  NeighbourTable<Real> table;
  for (Index i = 0; i < points.num(); ++i) table.push_back(brute.of_particle(i, wanted));
  return table;
}
template <class Real>
NeighbourTable<Real> brute_table(const PointSet<Real>& points, const PointSet<Real>& queries,
                                 const Wanted& wanted) {
  const BruteNeighbours<Real> brute(points);
  NeighbourTable<Real> table;
  for (Index i = 0; i < queries.num(); ++i) table.push_back(brute.of(queries, i, wanted));
  return table;
}

/// Queries for a point set: at its particles, around them, and far outside (a period away where
/// that is the same position).
template <class Real>
PointSet<Real> random_queries(const PointSet<Real>& points, Random& random, Index num) {
  PointSet<Real> queries;
  queries.box = points.box;
  const Vec3d extent = extent_of(points.box, 20 * points.linking_length);
  for (Index i = 0; i < num; ++i) {
    const int kind = static_cast<int>(random.below(3));
    const Index near = points.num() > 0 ? random.below(points.num()) : -1;
    for (int axis = 0; axis < points.box.dimensions; ++axis) {
      double x = points.box.lo[axis] + extent[axis] * random.uniform();
      if (kind == 0 && near >= 0) x = static_cast<double>(points.at(near, axis));
      if (kind == 1)
        x += extent[axis] * random.pick({-1.0, 0.0, 1.0}) * (points.box.periodic[axis] ? 1 : 10);
      queries.pos.push_back(static_cast<Real>(x));
    }
  }
  return queries;
}

}  // namespace zhalo::testing
