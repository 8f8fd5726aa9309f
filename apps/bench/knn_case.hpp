/// One timed case: the k nearest neighbours of points, as lists or reduced.
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cloud.hpp"
#include "zhalo/core/exec.hpp"
#include "zhalo/core/types.hpp"

namespace zhalo::bench {

/// The clouds that were used last.
struct KnnClouds {
  CloudStore particles;
  CloudStore queries;
};

struct KnnCase {
  std::string name;
  CloudSource particles;
  std::optional<CloudSource> queries;  ///< none: the particles themselves
  int k = 8;
  bool reduce = false;  ///< to the k-th radius, instead of lists of distances and indices
  std::function<Exec()> make_exec;
};

/// The function that google-benchmark calls. Counters: docs/benchmarks.md.
void run(benchmark::State& state, const KnnCase& knn_case, KnnClouds& clouds);

/// The neighbours of each particle, row by row, in its own order.
struct NeighbourTable {
  std::vector<float> distance;  ///< (num, k)
  std::vector<Index> index;     ///< (num, k)
};

/// One call, not timed.
NeighbourTable neighbours(const KnnCase& knn_case, const Cloud& cloud);

}  // namespace zhalo::bench
