/// zhalo_fft_bench: its options, the transforms that it compares, their limits, and its report.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/report/report.hpp"
#include "zhalo/comm/context.hpp"
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

/// Forward and backward without any factor, in place, the spectrum in the order that is cheapest
/// for the library. All members are collective.
template <class T>
class RealTransform {
 public:
  virtual ~RealTransform() = default;

  /// This rank's cells, or modes after forward(): one memory for both.
  virtual Span<T> field() = 0;
  virtual const BoxLayout& cells() const = 0;
  /// In complex elements.
  virtual const BoxLayout& modes() const = 0;
  virtual void forward() = 0;
  virtual void backward() = 0;

  /// None of a library that does not tell.
  virtual std::optional<FftReport> report() const = 0;
  virtual std::string describe() const = 0;
};

/// What a library is asked for.
struct TransformRequest {
  Index num = 0;  ///< cells along each axis
  PlanEffort effort = PlanEffort::estimate;
  int threads = 1;
};

/// FFTW's own transform with threads on one rank, its MPI transform on slabs on several; empty if
/// it was not built in.
template <class T>
std::unique_ptr<RealTransform<T>> make_peer(const Communicator& comm,
                                            const TransformRequest& request);

/// Name and version of the peer; none if it was not built in.
std::optional<std::string> peer_name();

/// A sum over all modes, each with a sign that depends on its index only, and the sum of their
/// squares: two spectra with equal marks are equal up to rounding, however they are distributed,
/// but for an unlikely chance.
struct SpectrumMark {
  double real = 0;
  double imaginary = 0;
  double power = 0;
};
/// Difference of the sums over the root of the sum of squares: some eps if the spectra are equal.
double difference(const SpectrumMark& a, const SpectrumMark& b);

/// Measured on all ranks at once, by arrays as large as the field: where that fits into caches, so
/// do the transform's passes.
struct Bandwidths {
  double memory = 0;  ///< bytes per second and rank: each element read and written in place, by the
                      ///< context's threads
  double link =
      0;  ///< bytes per second and rank, one way: every rank sends to every other; 0 on one rank
};
/// `bytes`: S, of a rank's field. Collective.
Bandwidths measure_bandwidths(const Context& context, Index bytes);

/// Of one transform, forward or backward.
struct FftLimit {
  double memory_seconds =
      0;  ///< (6 + 2 e) S / memory: three passes of transforms of lines, and e exchanges
  double link_seconds = 0;  ///< S ((1 - 1 / rows) + (1 - 1 / columns)) / link

  double lowest() const {
    return memory_seconds > link_seconds ? memory_seconds : link_seconds;
  }                                                                 ///< all at the same time
  double highest() const { return memory_seconds + link_seconds; }  ///< one after the other
};
/// `shape`: rows and columns of ranks; an exchange for each that is more than 1.
FftLimit limit_of(const Bandwidths& bandwidths, double bytes, const std::array<int, 2>& shape);

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
double min_of(const std::vector<double>& values);

/// Between two barriers' ends, of the slowest rank. Collective.
double seconds_of(const Communicator& comm, const std::function<void()>& work);

/// All cases of a size and a type; each is told as soon as it is done. Collective.
void run_cases(const Context& context, const FftBenchOptions& options, Index num,
               Precision precision, const std::function<void(const FftCaseResult&)>& tell);

/// What is the same in all cases, and the names of the columns.
std::string table_head(const Context& context, const FftBenchOptions& options);
std::string table_row(const FftCaseResult& result);

app::Json json_of_run(const Context& context, const FftBenchOptions& options);
app::Json json_of(const FftCaseResult& result);

}  // namespace zhalo::bench
