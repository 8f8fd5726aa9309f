/// One timed case: friends-of-friends and its catalogue on one set of points.
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "zhalo/core/exec.hpp"
#include "zhalo/core/types.hpp"

namespace zhalo::bench {

/// Float positions, (num, 3), in a periodic cube.
struct Cloud {
  std::vector<float> pos;
  double box_length = 1;

  Index num() const { return static_cast<Index>(pos.size() / 3); }
  double mean_separation() const;
};

/// Makes or reads a cloud when its first case runs.
struct CloudSource {
  std::string key;
  std::function<Cloud()> make;
};

/// Keeps the cloud that was used last, so that consecutive cases share it and memory holds one.
class CloudStore {
 public:
  const Cloud& get(const CloudSource& source);

 private:
  std::string key_;
  Cloud cloud_;
};

struct FofCase {
  std::string name;
  CloudSource source;
  /// Linking length, in units of the mean separation or, if absolute, of the positions.
  double linking_length = 0.2;
  bool absolute = false;
  std::function<Exec()> make_exec;

  double length_for(const Cloud& cloud) const { return absolute ? linking_length : linking_length * cloud.mean_separation(); }
};

/// The function that google-benchmark calls. Counters: docs/benchmarks.md.
void run(benchmark::State& state, const FofCase& fof_case, CloudStore& clouds);

/// For each particle the smallest index in its group: one call, not timed.
std::vector<Index> labels(const FofCase& fof_case, const Cloud& cloud);

}  // namespace zhalo::bench
