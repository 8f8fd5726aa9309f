/// Power spectra.
#pragma once

#include <optional>
#include <vector>

#include "zhalo/mesh/modes.hpp"
#include "zhalo/mesh/paint.hpp"

namespace zhalo {

enum class BinSpacing { linear, logarithmic };

/// Bins of wave numbers, half open: [edge, next edge), fewer than 2^20. Those that begin beyond
/// k_max are left out; where the grid has no room for any of the usual ones, there are none. An
/// edge within 1e-12 of a mode is at the mode.
struct BinOptions {
  BinSpacing spacing = BinSpacing::linear;
  /// First edge; none: the fundamental, the least of 2 pi / length.
  std::optional<double> k_min{};
  /// None: the Nyquist frequency, the least of pi / spacing. The last bin ends here at the latest.
  std::optional<double> k_max{};
  /// Linear: width of a bin; none: the fundamental.
  std::optional<double> width{};
  /// Logarithmic: bins per decade.
  double per_decade = 10;
};

struct PowerOptions {
  BinOptions bins{};
  /// Also P_l, l = 0, 2, 4, ..., about this axis (0, 1, 2); -1: none.
  int multipole_axis = -1;
  int max_multipole = 4;  ///< even, up to 16
};

/// One bin. All modes of the full spectrum are counted, k and -k, but k = 0.
struct PowerBin {
  double k_lo = 0;
  double k_hi = 0;
  double k_mean = 0;  ///< of the modes; the bin's middle if there are none
  double power = 0;   ///< volume times the mean of Re(a conj(b)); NaN without modes
  Index num_modes = 0;
  std::vector<double> multipoles;  ///< P_0, P_2, ...: (2 l + 1) times the mean of P L_l(k_axis / k)
};

/// Conventions: with a(k) the modes of a field normalised as means, P(k) = volume <Re(a conj(b))>,
/// in the unit of length cubed, shot noise included. Equal bits for any number of threads; over
/// numbers of ranks powers, multipoles and cross powers agree to 1e-12 of the bin's power (of a
/// cross power, of the root of both fields' powers).
struct PowerSpectrum {
  std::vector<PowerBin> bins;
  double volume = 0;
  double fundamental = 0;
  double nyquist = 0;
};

/// Spectrum of one field, or of two. In a cubic box bins are told apart by the integer square of
/// the wave vector, so that no mode is in a wrong bin by rounding. Sums are in double. Collective.
/// InputError for bins that make no sense, a box that is not periodic along all axes or has no
/// volume, options that differ between ranks, or decompositions that differ.
template <class T>
PowerSpectrum power_spectrum(const Context& context, const Modes<T>& modes,
                             const PowerOptions& options = {});
template <class T>
PowerSpectrum cross_power_spectrum(const Context& context, const Modes<T>& a, const Modes<T>& b,
                                   const PowerOptions& options = {});

/// Power that particles would have at random places: volume times sum of squared weights / square
/// of their sum.
double shot_noise(const PaintReport& report, const Grid& grid);

}  // namespace zhalo
