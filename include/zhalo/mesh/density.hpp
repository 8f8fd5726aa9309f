/// From particles to the overdensity, as a field and as modes.
#pragma once

#include "zhalo/mesh/modes.hpp"
#include "zhalo/mesh/paint.hpp"

namespace zhalo {

/// Divides by the mean: cells in units of the mean. InputError if the mean is not more than 0. Not
/// collective, takes no memory; on a device it is queued.
template <class T>
void to_mean_units(const Context& context, Field<T>& field, double mean);
/// value / mean - 1.
template <class T>
void to_overdensity(const Context& context, Field<T>& field, double mean);

struct DensityOptions {
  PaintOptions paint{};  ///< its `values` do not count: the overdensity is painted
  /// Paints a second time, on points half a cell away on each axis, and combines both meshes: the
  /// odd images of higher frequencies cancel (Hockney & Eastwood 1981, 7-8; Sefusatti et al. 2016,
  /// MNRAS 460, 3624, eq. 25). Costs twice the time. Modes at the Nyquist frequency are those of
  /// positive k, not of a real field: to_field() takes the part that is.
  bool interlaced = false;
  Compensation compensation = Compensation::none;
};

template <class T>
struct DensityModes {
  Modes<T> modes;  ///< of the overdensity: mode 0 is 0
  PaintReport report;
};

/// Paints the particles and transforms their overdensity; phases count from the middle of cell 0.
/// Collective; errors as paint(), and InputError if the weights' sum is not more than 0,
/// PaintOptions::shift is not 0, or the box is not periodic along all axes.
template <class T, class Real>
DensityModes<T> density_modes(const Context& context, const Decomposition& decomposition,
                              const Particles<Real>& particles, const DensityOptions& options = {});

}  // namespace zhalo
