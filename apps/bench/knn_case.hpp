/// One timed case: the k nearest neighbours of points, as lists or reduced.
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "point_set.hpp"
#include "zhalo/core/exec.hpp"
#include "zhalo/core/types.hpp"

namespace zhalo::bench {

/// The point_sets that were used last.
struct KnnPoints {
  PointStore particles;
  PointStore queries;
};

struct KnnCase {
  std::string name;
  PointSource particles;
  std::optional<PointSource> queries;  ///< none: the particles themselves
  int k = 8;
  bool reduce = false;  ///< to the k-th radius, instead of lists of distances and indices
  std::function<Exec()> make_exec;
};

/// The function that google-benchmark calls. Counters: docs/benchmarks.md.
void run(benchmark::State& state, const KnnCase& knn_case, KnnPoints& point_sets);

/// The neighbours of each particle, row by row, in its own order.
struct NeighbourTable {
  std::vector<float> distance;  ///< (num, k)
  std::vector<Index> index;     ///< (num, k)
};

/// One call, not timed.
NeighbourTable neighbours(const KnnCase& knn_case, const PointSet& points);

}  // namespace zhalo::bench
