/// Distributed three-dimensional Fourier transforms.
#pragma once

#include <complex>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "zhalo/comm/context.hpp"
#include "zhalo/core/span.hpp"
#include "zhalo/fft/decomposition.hpp"

namespace zhalo {

/// The factor of a transform of N cells, computed in 64-bit.
enum class Norm {
  /// 1 both ways. Forward and backward together multiply by N.
  none,
  /// 1 / N forward, 1 backward. Modes are means, and mode 0 is the mean of the field.
  forward,
  /// 1 / sqrt(N) both ways.
  orthonormal
};

/// How the transforms of lines are planned on the host. `measure` times several algorithms, which
/// takes seconds for each new length. On a device there is only one way.
enum class PlanEffort { estimate, measure };

/// How ranks of one machine exchange data: through shared memory, or by messages as between
/// machines. `automatic` is shared memory if all ranks compute on the host and there is room for
/// it, else messages.
enum class NodeExchange { automatic, shared_memory, messages };

struct FftOptions {
  Norm norm = Norm::forward;
  /// Modes in natural order rather than transposed. This costs one more exchange.
  bool restore_order = false;
  /// Fields per call, stored one after the other.
  Index batch = 1;
  PlanEffort effort = PlanEffort::estimate;
  NodeExchange node_exchange = NodeExchange::automatic;
  /// Bytes of the parts in which data is exchanged while the next part is computed, and of the
  /// planes that a device transforms at a time; 0: chosen automatically.
  Index chunk_bytes = 0;

  friend bool operator==(const FftOptions&, const FftOptions&) = default;
};

/// What memory a plan takes, and what its transforms have cost on this rank.
struct FftReport {
  Index workspace_bytes = 0;  ///< beyond the caller's arrays
  /// Memory held by the plan that the ranks of a machine share (NodeExchange::shared_memory).
  Index shared_bytes = 0;
  double plan_seconds = 0;
  Index num_transforms = 0;  ///< fields transformed so far, in either direction
  double transform_seconds = 0;
  double exchange_seconds = 0;  ///< part of transform_seconds: waiting for other ranks' data
  Index bytes_sent = 0;         ///< to other ranks
};

namespace fft {
template <class T>
struct RealOf {
  using type = T;
};
template <class T>
struct RealOf<std::complex<T>> {
  using type = T;
};
template <class T>
class FftPlan;
}  // namespace fft

/// Transforms between the cells of a field, of type T, and its complex modes:
///   forward    F(k) = norm sum_x f(x) exp(-2 pi i (k_x x / n_x + k_y y / n_y + k_z z / n_z))
///   backward   f(x) = norm sum_k F(k) exp(+2 pi i (...))
/// T = float or double: real fields and the half spectrum (r2c, c2r). T = std::complex<float> or
/// std::complex<double>: complex fields and the full spectrum (c2c). In a half spectrum, imaginary
/// parts that a real field cannot have count as 0.
///
/// Cells are stored as cells() says, and modes as modes() says (by default transposed). Arrays are
/// in memory of the context's Exec, aligned as any array of T (of Complex in place). Plans are
/// independent of each other and may be destroyed in any order. The context must outlive them.
///
/// Equal input gives equal bits with PlanEffort::estimate and the same decomposition. The number of
/// threads, the way to exchange and the addresses of the arrays do not matter. On a device
/// results may differ by rounding with other parts, and with arrays that are not aligned as whole
/// complex numbers.
///
/// zhalo calls FFTW's planner under a lock of its own. A program that also plans with FFTW, on
/// another thread at the same time, needs fftw_make_planner_thread_safe().
template <class T>
class Fft {
 public:
  using Real = typename fft::RealOf<T>::type;
  using Complex = std::complex<Real>;
  static constexpr Spectrum spectrum = std::is_same_v<T, Real> ? Spectrum::half : Spectrum::full;

  /// Makes a plan. Collective. InputError if the decomposition is for another number of ranks, or
  /// if options differ between ranks or cannot be used.
  Fft(const Context& context, const Decomposition& decomposition, const FftOptions& options = {});
  Fft(Context&&, const Decomposition&, const FftOptions& = {}) = delete;  // it would end too early
  ~Fft();
  Fft(Fft&& other) noexcept;
  Fft& operator=(Fft&& other) noexcept;
  Fft(const Fft&) = delete;
  Fft& operator=(const Fft&) = delete;

  const Decomposition& decomposition() const;
  /// Layout of this rank's cells, out of place: rows of num[2].
  const BoxLayout& cells() const;
  /// Layout of this rank's cells, in place: rows of 2 (num[2] / 2 + 1) reals, or num[2] complex
  /// numbers.
  const BoxLayout& cells_in_place() const;
  /// Layout of this rank's modes.
  const BoxLayout& modes() const;
  /// Elements of T that one field needs in place: room for its cells and for its modes.
  Index in_place_size() const;

  /// Bytes that a call needs beyond the arrays. A call takes them from the context's memory, unless
  /// use_workspace() has given memory to the plan.
  Index workspace_bytes() const;
  /// Gives memory of the caller to the plan. It is memory of the context's Exec, aligned to 64
  /// bytes, and on a device neither page-locked nor managed. An empty span: the plan uses the
  /// context's memory again. Ranks may differ in this. InputError if it is other memory, or smaller
  /// than workspace_bytes(). If the first call with two arrays finds too little memory for ranks to
  /// share, it needs a larger workspace; its error says how much.
  void use_workspace(Span<std::byte> workspace);

  /// Transforms cells to modes; `cells` is not changed. Collective. InputError unless the sizes are
  /// batch times cells().size and modes().size and the arrays do not overlap.
  void forward(Span<const T> cells, Span<Complex> modes);
  /// Transforms modes to cells; `modes` is not changed. Collective. Throws as forward().
  void backward(Span<const Complex> modes, Span<T> cells);
  /// As backward(), but `modes` holds anything afterwards. On one rank this saves a copy of the
  /// modes: its memory and its time. Collective. Throws as forward().
  void backward_overwriting(Span<Complex> modes, Span<T> cells);
  /// Transforms within one array of batch times in_place_size() elements. Cells are stored as
  /// cells_in_place() says. Collective. InputError if the size is wrong.
  void forward_in_place(Span<T> field);
  void backward_in_place(Span<T> field);

  const FftReport& report() const;
  /// For example "r2c double, slab 4 x 1 of 512 x 512 x 512, messages, parts of 8388608 bytes".
  std::string describe() const;

 private:
  std::unique_ptr<fft::FftPlan<T>> plan_;
};

/// One decomposition and set of options that was timed.
struct FftTrial {
  Decomposition decomposition;
  FftOptions options;
  double plan_seconds = 0;
  /// Forward and backward together, on the slowest rank; the fastest of the repetitions.
  double seconds = 0;
};

struct FftChoice {
  Decomposition decomposition;
  FftOptions options;
  std::vector<FftTrial> trials;  ///< the fastest first

  /// A table of the trials, one line each.
  std::string describe() const;
};

struct FftTunerOptions {
  int repetitions = 3;  ///< timed runs, after one to warm up
  /// Called on rank 0 with the table of each new choice. By default the table is printed to
  /// standard error.
  std::function<void(const std::string& table)> print;
};

/// Times shapes of the decomposition and ways to exchange for a grid. It chooses the fastest and
/// remembers the choice: another request for the same grid, type and options runs no transforms.
/// All ranks get the same choice. The context must outlive the tuner.
class FftTuner {
 public:
  /// InputError for fewer than 1 repetition.
  explicit FftTuner(const Context& context, FftTunerOptions options = {});
  explicit FftTuner(Context&&, FftTunerOptions = {}) = delete;

  /// Returns the fastest decomposition and options. `options` says what the transforms must do
  /// (norm, order, batch, effort). node_exchange and chunk_bytes are chosen unless they are set. T
  /// as in Fft. Allocates and frees a batch of fields. Collective. InputError if the ranks'
  /// requests differ.
  template <class T>
  const FftChoice& choose(const Grid& grid, const FftOptions& options = {});

 private:
  const Context* context_;
  FftTunerOptions options_;
  std::map<std::vector<Index>, FftChoice> choices_;  ///< by what was asked, as numbers
};

}  // namespace zhalo
