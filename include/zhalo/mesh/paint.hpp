/// From particles to a field, and from a field to positions: mass assignment and its reverse.
#pragma once

#include <utility>
#include <vector>

#include "zhalo/core/buffer.hpp"
#include "zhalo/domain/domain.hpp"
#include "zhalo/mesh/field.hpp"

namespace zhalo {

/// The weight of a particle.
enum class Weights {
  mass,        ///< its mass, or uniform_mass; not negative
  unit,        ///< 1: the field counts particles
  column,      ///< PaintOptions::column
  mass_column  ///< mass times column; with a velocity as the column, the momentum
};

/// The values of the cells.
enum class CellValues {
  sum,         ///< sum of the weights
  mean_units,  ///< sum / mean of all cells
  overdensity  ///< sum / mean - 1
};

struct PaintOptions {
  Window window = Window::cic;
  Weights weights = Weights::mass;
  /// One value (of any sign) for each particle of this rank, in the caller's order over segments.
  /// Memory of the context's Exec.
  RealColumn column{};
  CellValues values = CellValues::sum;
  /// Shift of the mesh's points along each axis, in cells from -1 to 1. {1/2, 1/2, 1/2} is the
  /// second mesh of interlacing.
  Vec3d shift{};
};

/// What was painted, over all ranks.
struct PaintReport {
  Index num_particles = 0;
  Index num_wrapped = 0;  ///< particles outside a periodic axis
  double sum = 0;         ///< of the weights, and of all cells
  double sum2 = 0;        ///< of the squares of the weights, each a whole number of units
  /// Number of particles of equal weights with the same shot noise: sum^2 / sum2. Correct even if
  /// these are too large or small for a double.
  double effective_number = 0;
  double weight_unit = 0;  ///< the fixed-point unit of weights, see paint()
  Index num_cells = 0;

  /// Mean weight of a cell.
  double mean() const { return sum / static_cast<double>(num_cells); }
};

/// Spreads the particles' weights over the cells of the decomposition's grid, which fill its box.
/// cells() of `field` become the sums (or what CellValues says), and its ghosts become 0. Cell i
/// stands for the position box.lo + (i + 1/2 + shift) spacing. With NGP and CIC, a particle there
/// is in this cell alone. The position in cells is computed in double, as
/// (x - lo) * (num / length) - (1/2 + shift). Positions outside a periodic axis are wrapped. On an
/// axis that is not periodic, weight that would fall beyond the edge goes to the outermost cell.
///
/// The field does not depend on ranks, threads, backend, or the order of particles, bit for bit.
/// For this, weights are counted in whole multiples of a unit, a power of 2. It is so small that no
/// weight exceeds 2^51 units, and the magnitudes of all weights together do not exceed 2^62 units.
/// Each particle's units are divided over the cells without remainder. So sums are exact, and no
/// unit is lost. Two things are rounded: each weight to the nearest unit, and the cells' shares of
/// it to a few units. Weights below about 2^-51 of the largest, 2^-61 of the sum of all magnitudes,
/// or 1e-300 may round to zero.
///
/// Collective. Particles may be in any order, on any rank, in 3 dimensions, up to
/// max_local_particles per rank; they are not changed. docs/mesh.md has the memory that it needs.
/// T, Real: float or double. Throws OutOfMemory, and InputError for
/// - positions that count_positions() refuses; a box without length;
/// - weights that are not finite; negative masses (of Weights::mass);
/// - sums that T cannot hold; a mean of 0 or less, if cells are divided by it;
/// - options or a decomposition that differ between ranks.
template <class T, class Real>
PaintReport paint(const Context& context, const Particles<Real>& particles, Field<T>& field,
                  const PaintOptions& options = {});

/// The same for one species of a domain, with the masses that it has. PaintOptions::column is in
/// the domain's order. Particles are not sorted. Collective; throws as above, and InputError if
/// there is no such species.
template <class T, class Real>
PaintReport paint(const Domain<Real>& domain, Field<T>& field, const PaintOptions& options = {},
                  int species = 0) {
  return together(domain.context().comm, [&] {
    return paint(domain.context(), domain.particles(species), field, options);
  });
}

// From fields to values at points.

/// Reads fields at the positions of `points`. Each value is the mean of the cells around the point,
/// weighted by the window: the transpose of paint(). Returns one array per field, with one value
/// per point of this rank in the caller's order, in memory of the context's Exec. Ghost cells are
/// not used. Beyond the edge of an axis that is not periodic, the outermost cell continues.
///
/// Values are equal bit for bit for any number of ranks and threads and on any backend: sums are in
/// double and in a fixed order. Collective; points may be on any rank. Several ranks need memory
/// for a second copy of each field, with ghosts, and for at most 2^23 points that are sent and
/// about 2^24 that are received. Throws InputError as paint(), and if the fields have different
/// decompositions; OutOfMemory. T, Real: float or double.
template <class T, class Real>
std::vector<Buffer<T>> readout(const Context& context, const std::vector<const Field<T>*>& fields,
                               const Particles<Real>& points, Window window = Window::cic);

/// The same at the particles of one species of a domain. Values are in the domain's order.
/// Collective; throws as above, and InputError if there is no such species.
template <class T, class Real>
std::vector<Buffer<T>> readout(const Domain<Real>& domain,
                               const std::vector<const Field<T>*>& fields,
                               Window window = Window::cic, int species = 0) {
  return together(domain.context().comm, [&] {
    return readout(domain.context(), fields, domain.particles(species), window);
  });
}

/// The same for one field.
template <class T, class Real>
Buffer<T> readout(const Context& context, const Field<T>& field, const Particles<Real>& points,
                  Window window = Window::cic) {
  return std::move(readout(context, std::vector<const Field<T>*>{&field}, points, window).front());
}
template <class T, class Real>
Buffer<T> readout(const Domain<Real>& domain, const Field<T>& field, Window window = Window::cic,
                  int species = 0) {
  return std::move(readout(domain, std::vector<const Field<T>*>{&field}, window, species).front());
}

}  // namespace zhalo
