/// One timed case: friends-of-friends and its catalogue on one set of points.
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <string>
#include <vector>

#include "point_set.hpp"
#include "zhalo/core/exec.hpp"
#include "zhalo/core/types.hpp"

namespace zhalo::bench {

struct FofCase {
  std::string name;
  PointSource source;
  /// Linking length, in units of the mean separation or, if absolute, of the positions.
  double linking_length = 0.2;
  bool absolute = false;
  std::function<Exec()> make_exec;

  double length_for(const PointSet& points) const {
    return absolute ? linking_length : linking_length * points.mean_separation();
  }
};

/// The function that google-benchmark calls. Counters: docs/benchmarks.md.
void run(benchmark::State& state, const FofCase& fof_case, PointStore& point_sets);

/// For each particle the smallest index in its group: one call, not timed.
std::vector<Index> labels(const FofCase& fof_case, const PointSet& points);

}  // namespace zhalo::bench
