/// Choosing by measurement how to transform.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "zhalo/fft/fft.hpp"

namespace zhalo {

/// One way that was tried.
struct FftTrial {
  Decomposition decomposition;
  FftOptions options;
  double plan_seconds = 0;
  double seconds = 0;  ///< forward and backward of the slowest rank, the fastest of the repetitions
};

struct FftChoice {
  Decomposition decomposition;
  FftOptions options;
  std::vector<FftTrial> trials;  ///< the fastest first

  /// A table of the trials, one line each.
  std::string describe() const;
};

struct FftTunerOptions {
  int repetitions = 3;  ///< after one that warms up
  /// Called on rank 0 with the table of each new choice; by default it is printed to standard
  /// error.
  std::function<void(const std::string& table)> print;
};

/// Times shapes of decomposition and ways to exchange for a grid, chooses the fastest, and
/// remembers the choice: the next question for the same grid, type and options costs nothing. All
/// ranks choose alike. The context must outlive the tuner.
class FftTuner {
 public:
  /// InputError for fewer than 1 repetition.
  explicit FftTuner(const Context& context, FftTunerOptions options = {});

  /// `options` says what must be done (norm, order, batch, effort); node_exchange and chunk_bytes
  /// are chosen unless they are set. T as in Fft. Allocates and frees a batch of fields.
  /// Collective; InputError if ranks ask differently.
  template <class T>
  const FftChoice& choose(const Grid& grid, const FftOptions& options = {});

 private:
  struct Entry;
  const Context* context_;
  FftTunerOptions options_;
  std::vector<std::shared_ptr<const Entry>> entries_;
};

}  // namespace zhalo
