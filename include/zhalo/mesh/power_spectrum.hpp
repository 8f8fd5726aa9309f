/// Power spectra.
#pragma once

#include <optional>
#include <vector>

#include "zhalo/mesh/modes.hpp"
#include "zhalo/mesh/paint.hpp"

namespace zhalo {

enum class BinSpacing { linear, logarithmic };

/// Bins of wave numbers, half open: [edge, next edge), fewer than 2^20. Bins that begin beyond
/// k_max are left out. If neither k_min nor k_max is given and the grid is too small for any bin,
/// there are none. An edge within 1e-12 of a mode counts as being at the mode.
struct BinOptions {
  BinSpacing spacing = BinSpacing::linear;
  /// First edge. None: the fundamental, the least of 2 pi / length.
  std::optional<double> k_min{};
  /// End of the last bin. None: the Nyquist frequency, the least of pi / spacing.
  std::optional<double> k_max{};
  /// Linear bins: the width. None: the fundamental.
  std::optional<double> width{};
  /// Logarithmic bins: number per decade.
  double per_decade = 10;
};

struct PowerOptions {
  BinOptions bins{};
  /// Axis (0, 1, 2) about which P_l, l = 0, 2, 4, ..., are measured, too; -1: no multipoles.
  int multipole_axis = -1;
  int max_multipole = 4;  ///< even, up to 16
  /// Modes count as compensate() would make them. They are not changed.
  Window window = Window::cic;
  Compensation compensation = Compensation::none;
};

/// One bin. It counts all modes of the full spectrum, k and -k, except k = 0.
struct PowerBin {
  double k_lo = 0;
  double k_hi = 0;
  double k_mean = 0;  ///< mean k of the modes; the bin's middle if there are none
  double power = 0;   ///< volume times the mean of Re(a conj(b)); NaN without modes
  Index num_modes = 0;
  /// P_0, P_2, ...: (2 l + 1) times the mean of P L_l(k_axis / k), L_l being the Legendre
  /// polynomial.
  std::vector<double> multipoles;
};

/// P(k) = volume <Re(a conj(b))>, where a(k) and b(k) are the modes of fields normalised as means.
/// The unit is that of length cubed. Shot noise is included.
///
/// The bits are equal for any number of threads. For different numbers of ranks, powers and
/// multipoles agree to 1e-12 of the bin's power. Cross powers agree to 1e-12 of the root of the
/// product of both fields' powers.
struct PowerSpectrum {
  std::vector<PowerBin> bins;
  double volume = 0;
  double fundamental = 0;
  double nyquist = 0;
};

/// Power spectrum of one field, and cross power spectrum of two. In a cubic box the bin of a mode
/// follows from the integer square of its wave vector, so rounding puts no mode into a wrong bin.
/// Sums are in double. Collective. InputError for bins that make no sense, a box that is not
/// periodic along all axes or has no volume, options that differ between ranks, or decompositions
/// that differ.
template <class T>
PowerSpectrum power_spectrum(const Context& context, const Modes<T>& modes,
                             const PowerOptions& options = {});
template <class T>
PowerSpectrum cross_power_spectrum(const Context& context, const Modes<T>& a, const Modes<T>& b,
                                   const PowerOptions& options = {});

/// Power of particles at random positions: volume times the sum of squared weights / square of
/// their sum. A power spectrum contains it as it is if the mesh is not interlaced and compensated
/// by Compensation::shot_noise. It contains it to 1%, up to the Nyquist frequency, if the mesh is
/// interlaced (not NGP) and compensated by Compensation::window. Otherwise it contains it times a
/// function of k.
double shot_noise(const PaintReport& report, const Grid& grid);

}  // namespace zhalo
