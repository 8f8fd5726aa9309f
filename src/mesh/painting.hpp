/// Particles on their way to one or more meshes.
#pragma once

#include "kernels/mesh.hpp"
#include "src/domain/positions.hpp"
#include "src/mesh/painted_cells.hpp"
#include "zhalo/comm/device_memory.hpp"
#include "zhalo/mesh/paint.hpp"

namespace zhalo {

/// Particles that have been looked at, which is the same for all meshes of a decomposition: these
/// may differ in where their cells' points are. All members are collective, to be called within
/// together(). What the constructor is given must outlive it.
template <class Real>
class Painting {
 public:
  /// Throws as paint().
  Painting(const Context& context, const Decomposition& decomposition,
           const Particles<Real>& particles, const PaintOptions& options);

  const PaintReport& report() const { return report_; }
  /// Paints all cells of a mesh whose points are shifted so. InputError if sums of weights are
  /// wanted that T cannot hold, or units of a mean that is not more than 0.
  template <class T>
  void paint(const OwnCells<T>& cells, const Vec3d& shift) const;

 private:
  void look();
  DeviceMemoryScope look_after_memory() const;
  template <class T>
  Index paint_units(const OwnCells<T>& cells, const Vec3d& shift) const;
  Field<Index> sum_fixed_weights(const Vec3d& shift) const;
  kernels::LinearMap map_to_values() const;

  const Context& context_;
  const Decomposition& decomposition_;
  PaintOptions options_;
  Index num_particles_ = 0;  ///< over all ranks
  SegmentTable<Real> input_;
  kernels::PaintInput<Real> painted_;
  double magnitude_ = 0;    ///< that the magnitudes of all weights together do not exceed
  Index fixed_weight_ = 0;  ///< of all ranks, in units
  PaintReport report_;
};

}  // namespace zhalo
