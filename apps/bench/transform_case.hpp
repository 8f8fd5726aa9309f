/// One timed case: a Fourier transform on one rank, forward and backward.
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <string>

#include "zhalo/core/exec.hpp"
#include "zhalo/core/types.hpp"

namespace zhalo::bench {

struct TransformCase {
  std::string name;
  Index num = 0;  ///< cells along each axis
  bool is_float = false;
  std::function<Exec()> make_exec;
};

/// The function that google-benchmark calls. Counters: docs/benchmarks.md.
void run(benchmark::State& state, const TransformCase& transform_case);

}  // namespace zhalo::bench
