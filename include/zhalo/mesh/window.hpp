/// Mass assignment windows: how particles are spread over cells, and how fields are read at points.
#pragma once

namespace zhalo {

/// B-splines (Hockney & Eastwood 1981, "Computer Simulation Using Particles", 5.3; PCS: Chaniotis &
/// Poulikakos 2004, J. Comput. Phys. 197, 253). The value is the order: the number of cells per
/// axis that a particle reaches.
enum class Window : int {
  ngp = 1,  ///< nearest grid point
  cic = 2,  ///< cloud in cell
  tsc = 3,  ///< triangular shaped cloud
  pcs = 4   ///< piecewise cubic spline
};

/// Cells per axis that a particle reaches: 1 for NGP to 4 for PCS.
constexpr int order_of(Window window) { return static_cast<int>(window); }

/// "ngp", "cic", "tsc", "pcs".
constexpr const char* name_of(Window window) {
  constexpr const char* names[] = {"", "ngp", "cic", "tsc", "pcs"};
  return names[order_of(window)];
}

}  // namespace zhalo
