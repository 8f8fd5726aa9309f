/// Bins of wave numbers, so that modes find theirs by their squares.
#pragma once

#include <vector>

#include "zhalo/mesh/power_spectrum.hpp"

namespace zhalo {

struct PowerBins {
  double unit = 1;             ///< the fundamental, in which squares are measured
  std::vector<double> k;       ///< edges
  std::vector<double> square;  ///< a mode is beyond an edge if its square is not less: in a cubic
                               ///< box squares are whole numbers

  Index num() const { return static_cast<Index>(k.empty() ? 0 : k.size() - 1); }
};

/// The least of 2 pi / length, and of pi / spacing. InputError for a box without volume.
double min_fundamental(const Grid& grid);
double min_nyquist(const Grid& grid);

/// Whether all sides are equal.
bool is_cubic(const Grid& grid);

/// InputError for bins that make no sense. No bins if none is asked for and the grid has no room
/// for the usual ones.
PowerBins make_bins(const Grid& grid, const BinOptions& options);

}  // namespace zhalo
