/// One case of the benchmark of transforms: zhalo's and the peer's, in turns.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fft_field.hpp"
#include "fft_limit.hpp"
#include "fft_options.hpp"
#include "zhalo/comm/context.hpp"

namespace zhalo::bench {

/// What one library took. Seconds are those of the slowest rank, bytes those of all ranks.
struct FftSide {
  std::string describe;
  double plan_seconds = 0;
  std::vector<double> forward_seconds;
  std::vector<double> backward_seconds;
  double array_bytes = 0;
  std::optional<double> workspace_bytes;  ///< if the library tells, as all that follow
  std::optional<double> shared_bytes;     ///< of memory that ranks share
  std::optional<double> bytes_sent;       ///< by one transform
  std::optional<double>
      exchange_seconds;  ///< of one transform: waiting for others, the mean of all timed
  std::optional<double>
      peak_resident_bytes;  ///< growth of the resident sets while planned and run once: array,
                            ///< workspace, all else; shared pages once
  double round_trip_error = 0;
  SpectrumMark mark;

  /// Forward and backward of each repetition.
  std::vector<double> both_seconds() const;
};

struct FftCaseResult {
  Index num = 0;
  std::string type;
  std::string decomposition;  ///< zhalo's; the peer has slabs
  std::string way;
  std::array<int, 2> shape{};
  Bandwidths bandwidths;
  FftLimit limit;
  FftLimit peer_limit;
  FftSide zhalo;
  std::optional<FftSide> peer;
};

double median(std::vector<double> values);
double least(const std::vector<double>& values);

/// Between two barriers' ends, of the slowest rank. Collective.
double seconds_of(const Communicator& comm, const std::function<void()>& work);

/// All cases of a size and a type; each is told as soon as it is done. Collective.
void run_cases(const Context& context, const FftBenchOptions& options, Index num,
               Precision precision, const std::function<void(const FftCaseResult&)>& tell);

}  // namespace zhalo::bench
