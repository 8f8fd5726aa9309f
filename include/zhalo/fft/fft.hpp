/// Distributed three-dimensional Fourier transforms.
#pragma once

#include <complex>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "zhalo/comm/context.hpp"
#include "zhalo/core/span.hpp"
#include "zhalo/fft/decomposition.hpp"

namespace zhalo {

/// What a transform of N cells is multiplied by, computed in 64-bit.
enum class Norm {
  none,        ///< nothing: back and forth multiplies by N
  forward,     ///< 1 / N forward, nothing backward: modes are means, mode 0 is the field's mean
  orthonormal  ///< 1 / sqrt(N) both ways
};

/// How the transforms of lines are planned on the host: `measure` times several ways (tenths of a
/// second for each new length). A device plans in one way.
enum class PlanEffort { estimate, measure };

/// How ranks of one machine exchange: through memory that they share, or by messages as with all
/// others.
enum class NodeExchange { automatic, shared_memory, messages };

struct FftOptions {
  Norm norm = Norm::forward;
  /// Modes in natural order rather than transposed: costs one more exchange.
  bool restore_order = false;
  /// Fields per call, one behind the other.
  Index batch = 1;
  PlanEffort effort = PlanEffort::estimate;
  NodeExchange node_exchange = NodeExchange::automatic;
  /// Size of the parts in which data is exchanged while the next part is computed; 0: chosen.
  Index chunk_bytes = 0;

  friend bool operator==(const FftOptions&, const FftOptions&) = default;
};

/// What a plan takes and what its transforms have cost on this rank.
struct FftReport {
  Index workspace_bytes = 0;  ///< beyond the caller's arrays
  Index shared_bytes = 0;     ///< in memory that the ranks of a machine share, held by the plan
                              ///< (NodeExchange::shared_memory)
  double plan_seconds = 0;
  Index num_transforms = 0;  ///< fields transformed so far, either way
  double transform_seconds = 0;
  double exchange_seconds = 0;  ///< of these: waiting for other ranks' data
  Index bytes_sent = 0;         ///< to other ranks
};

namespace mesh {
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
}  // namespace mesh

/// Transforms between the cells of a field, of type T, and its modes, complex:
///   forward    F(k) = norm sum_x f(x) exp(-2 pi i (k_x x / n_x + k_y y / n_y + k_z z / n_z))
///   backward   f(x) = norm sum_k F(k) exp(+2 pi i (...))
/// T = float or double: real fields and the half spectrum (r2c, c2r). T = std::complex<float> or
/// std::complex<double>: complex fields and the full spectrum (c2c). The imaginary parts of a half
/// spectrum that a real field cannot have count as 0.
///
/// Cells lie as cells() says, modes as modes() says (by default transposed); arrays are in memory
/// of the context's Exec, aligned as any array of T (of Complex in place). Plans are independent of
/// each other and may be destroyed in any order; the context must outlive them. Equal input gives
/// equal bits with PlanEffort::estimate and the same decomposition, for any number of threads, any
/// way to exchange, and wherever the arrays lie. FFTW's planner is called under a lock of zhalo's:
/// a program that plans with FFTW itself on another thread at the same time needs
/// fftw_make_planner_thread_safe().
template <class T>
class Fft {
 public:
  using Real = typename mesh::RealOf<T>::type;
  using Complex = std::complex<Real>;
  static constexpr Spectrum spectrum = std::is_same_v<T, Real> ? Spectrum::half : Spectrum::full;

  /// Collective. InputError if the decomposition is for another number of ranks, or options differ
  /// between ranks or make no sense.
  Fft(const Context& context, const Decomposition& decomposition, const FftOptions& options = {});
  ~Fft();
  Fft(Fft&& other) noexcept;
  Fft& operator=(Fft&& other) noexcept;
  Fft(const Fft&) = delete;
  Fft& operator=(const Fft&) = delete;

  const Decomposition& decomposition() const;
  /// This rank's cells, out of place: rows of num[2].
  const BoxLayout& cells() const;
  /// This rank's cells, in place: rows of 2 (num[2] / 2 + 1) reals, or num[2] complex.
  const BoxLayout& cells_in_place() const;
  const BoxLayout& modes() const;
  /// Elements of T of one field in place: room for its cells and for its modes.
  Index in_place_size() const;

  /// Bytes that a call needs beyond the arrays: taken from the context's memory for the time of the
  /// call, or given once by the caller.
  Index workspace_bytes() const;
  /// InputError if it is smaller than workspace_bytes(). An empty span: from the context's memory
  /// again. The memory is the context's Exec's, aligned to 64 bytes. Ranks may differ in this.
  /// Where memory that ranks share runs out at the first call with two arrays, more is needed, and
  /// the call says how much.
  void use_workspace(Span<std::byte> workspace);

  /// `cells` is kept as it is. Collective. InputError unless the sizes are batch times cells().size
  /// and modes().size and the arrays are apart; so too below.
  void forward(Span<const T> cells, Span<Complex> modes);
  /// `modes` is kept as it is. Collective.
  void backward(Span<const Complex> modes, Span<T> cells);
  /// The cells, as cells_in_place() says, become modes in the same memory, and back: batch times
  /// in_place_size() elements. Collective.
  void forward_in_place(Span<T> field);
  void backward_in_place(Span<T> field);

  const FftReport& report() const;
  /// "r2c double, slab 4 x 1 of 512 x 512 x 512, shared memory, parts of 8 MiB".
  std::string describe() const;

 private:
  std::unique_ptr<mesh::FftPlan<T>> plan_;
};

extern template class Fft<float>;
extern template class Fft<double>;
extern template class Fft<std::complex<float>>;
extern template class Fft<std::complex<double>>;

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
