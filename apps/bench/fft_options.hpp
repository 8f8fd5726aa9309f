/// What zhalo_fft_bench can be asked for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "zhalo/fft/fft.hpp"

namespace zhalo::bench {

enum class Precision { single_precision, double_precision };

struct FftBenchOptions {
  std::vector<Index> sizes;
  std::vector<Precision> types;
  std::vector<Split> splits;
  std::vector<NodeExchange> ways;
  PlanEffort effort = PlanEffort::estimate;
  int threads = 1;
  int repetitions = 5;
  bool peer = true;
  std::string json;  ///< empty: none; "-": standard output
};

/// Reads the command line. Returns a text to print instead of running, for --help. InputError.
std::optional<std::string> read_options(int argc, const char* const* argv,
                                        FftBenchOptions& options);

}  // namespace zhalo::bench
