/// One timed case: particles painted on a mesh, or a field sampled at them.
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <string>

#include "point_set.hpp"
#include "zhalo/mesh/window.hpp"

namespace zhalo::bench {

struct MeshCase {
  std::string name;
  PointSource source;
  Window window = Window::cic;
  bool is_sample = false;  ///< else painted
  bool in_z_order = false;
  Index num_cells = 256;  ///< along each axis
  std::function<Exec()> make_exec;
};

/// The function that google-benchmark calls. Counters: docs/benchmarks.md.
void run(benchmark::State& state, const MeshCase& mesh_case, PointStore& point_sets);

}  // namespace zhalo::bench
