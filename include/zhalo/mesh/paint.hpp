/// From particles to a field: mass assignment.
#pragma once

#include "zhalo/domain/particles.hpp"
#include "zhalo/mesh/field.hpp"
#include "zhalo/mesh/window.hpp"

namespace zhalo {

/// What a particle brings.
enum class Weights {
  mass,        ///< its mass, or uniform_mass
  unit,        ///< 1: a field of numbers
  column,      ///< PaintOptions::column
  mass_column  ///< mass times column: of a velocity, the momentum
};

/// What cells hold.
enum class CellValues {
  sum,         ///< of the weights
  mean_units,  ///< sum / mean of all cells
  overdensity  ///< sum / mean - 1
};

struct PaintOptions {
  Window window = Window::cic;
  Weights weights = Weights::mass;
  /// One value (of any sign) for each particle of this rank in the caller's order, over segments;
  /// memory of the context's Exec.
  RealColumn column{};
  CellValues values = CellValues::sum;
  /// In cells: the points at which the field stands are moved up by so much. {1/2, 1/2, 1/2} is the
  /// second mesh of interlacing.
  Vec3d shift{};
};

/// What was painted, over all ranks.
struct PaintReport {
  Index num_particles = 0;
  Index num_wrapped = 0;  ///< lay outside a periodic axis
  double sum = 0;         ///< of the weights: of the field, too
  double sum2 = 0;        ///< of their squares
  /// Particles of equal weights with the same shot noise: sum^2 / sum2, also where these are too
  /// large or small for a double.
  double effective_number = 0;
  double weight_unit = 0;  ///< the unit in which weights are counted: see paint()
  Index num_cells = 0;

  /// Mean of a cell.
  double mean() const { return sum / static_cast<double>(num_cells); }
};

/// Spreads the particles' weights over the cells of the decomposition's grid, which fill its box;
/// cells() of `field` become the sums (or what CellValues says), its ghosts 0. Cell i stands for
/// the place box.lo + (i + 1/2 + shift) spacing: a particle there is in this cell alone with NGP
/// and CIC. The place in cells is computed in double, (x - lo) * (num / length) - (1/2 + shift);
/// what lies outside a periodic axis is wrapped. On an axis that is not periodic, what would fall
/// beyond the edge goes to the outermost cell.
///
/// Weights are counted in whole multiples of a unit, a power of 2 so small that neither any weight
/// exceeds 2^51 of them nor the sum of their magnitudes 2^62; each particle's units are
/// divided over the cells without remainder. So sums are exact: the field does not depend on ranks,
/// threads, backend, or the order of particles, bit for bit, and no unit is lost. Rounded are the
/// weights, each to the nearest unit, and the cells' shares of them, each to a few units. A
/// weight may count as 0 that is 2^-51 of the largest, or about 2^-61 of the sum of all magnitudes
/// (which decides where that is more than some 2000 times the largest), or below 1e-300.
///
/// Collective; particles of any order, on any rank, in 3 dimensions, up to max_local_particles of a
/// rank; they are not changed. Memory beyond the field: 8 bytes per cell; on the host at most 9
/// bytes per particle, less where neighbours follow each other, for 2^24 at a time; with several
/// ranks copies of at most 2^23 particles that are sent and about 2^24 that are received.
/// InputError for positions that are not finite or outside a box that is not periodic, weights that
/// are not finite, sums that T cannot hold, a mean of 0 or less where cells are divided by it,
/// options or a decomposition that differ between ranks, a box without length; OutOfMemory. T,
/// Real: float or double.
template <class T, class Real>
PaintReport paint(const Context& context, const Particles<Real>& particles, Field<T>& field,
                  const PaintOptions& options = {});

}  // namespace zhalo
