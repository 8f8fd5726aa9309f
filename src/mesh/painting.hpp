/// A decomposition's cells as mass assignment sees them, particles on their way to these cells, and
/// values on their way back.
#pragma once

#include <functional>
#include <vector>

#include "kernels/mesh.hpp"
#include "src/core/validate.hpp"
#include "src/domain/positions.hpp"
#include "src/domain/redistribution.hpp"
#include "zhalo/comm/context.hpp"
#include "zhalo/fft/decomposition.hpp"
#include "zhalo/mesh/field.hpp"
#include "zhalo/mesh/paint.hpp"

namespace zhalo {

/// Where a rank's own cells lie: from the first one on.
template <class T>
struct OwnCells {
  T* first = nullptr;
  GridIndex stride{};  ///< 1 along z
};
template <class T>
OwnCells<T> own_cells(Field<T>& field) {
  const BoxLayout& layout = field.layout();
  return {field.span().data() + layout.offset(field.cells().lo), layout.stride};
}

/// Ghosts that windows reach from a rank's own cells: behind these, on the axes that are divided
/// among ranks.
Ghosts assignment_ghosts(const Decomposition& decomposition, Window window);

/// How mass assignment sees a field.
struct AssignmentFrame {
  Window window = Window::cic;
  Vec3d shift{};  ///< PaintOptions::shift
};
/// `layout` has this rank's cells and assignment_ghosts().
kernels::MeshCells mesh_cells(const Decomposition& decomposition, int rank,
                              const AssignmentFrame& frame, const BoxLayout& layout);

/// The cells of an index box, as rows along z, in two layouts that contain it.
kernels::CellRows cell_rows(const IndexBox& index_box, const BoxLayout& from, const BoxLayout& to);

/// InputError unless the grid has cells in a box with lengths, for particles of three dimensions,
/// and the decomposition is for that many ranks.
void validate_mesh(const Communicator& comm, const Decomposition& decomposition, int dimensions);
void validate_window(Window window);

/// That the field has the cells of this rank of `comm`, whose size is that of the decomposition.
template <class T>
void validate_field(const Communicator& comm, const Field<T>& field) {
  const IndexBox own = field.decomposition().cells(comm.rank());
  validate(
      field.cells() == own && field.span().size() == field.layout().size,
      "the field has other cells than this rank: it was made with a context of other ranks, in "
      "another order, or has been moved from (take the same for both)");
}

// Particles brought to the ranks that own the cells which they touch.

/// What came to this rank. The first cells of all their windows are its own.
template <class Real>
struct RoutedPart {
  kernels::PaintInput<Real> painted;  ///< in the order of ranks
  /// Of this rank's own particles from `first` on.
  Redistribution redistribution;
  Index first = 0;
};

/// They bound the memory, not the number of particles.
struct RouteLimits {
  Index max_sent = Index{1} << 23;  ///< by a rank at a time
  Index max_received =
      Index{1} << 24;  ///< about so many at a time, however many others send to a rank
};

/// What travels, by the cells to which it goes.
template <class Real>
struct Route {
  kernels::PaintInput<Real> painted;
  kernels::MeshCells cells;
  bool with_weights = true;
  RouteLimits limits = {};
};

/// Calls visit(part) until all particles of all ranks have come, as often on each rank. Collective.
template <class Real>
void for_each_routed(const Context& context, const Decomposition& decomposition,
                     const Route<Real>& route,
                     const std::function<void(const RoutedPart<Real>&)>& visit);

// Painting.

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

// readout() after its checks, whose parts a test makes small.

/// Values of fields of one decomposition at positions within its box. More positions than the
/// limits allow travel in parts. Collective.
template <class T, class Real>
std::vector<Buffer<T>> readout_checked(const Context& context,
                                       const std::vector<const Field<T>*>& fields,
                                       const kernels::ParticlesView<Real>& points, Window window,
                                       const RouteLimits& limits = {});

}  // namespace zhalo
