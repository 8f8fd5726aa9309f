/// A decomposition's cells as clouds of particles see them.
#pragma once

#include <vector>

#include "kernels/mesh.hpp"
#include "src/core/validate.hpp"
#include "zhalo/mesh/field.hpp"

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

/// Ghosts that clouds reach from a rank's own cells: behind these, on the axes that are divided
/// among ranks.
Ghosts assignment_ghosts(const Decomposition& decomposition, Window window);

/// How a field is seen by clouds.
struct AssignmentFrame {
  Window window = Window::cic;
  Vec3d shift{};  ///< PaintOptions::shift
};
/// `layout` has this rank's cells and assignment_ghosts().
kernels::MeshCells mesh_cells(const Decomposition& decomposition, int rank,
                              const AssignmentFrame& frame, const BoxLayout& layout);

/// The cells of an index box, as rows along z, in two layouts that contain it.
kernels::CellRows cell_rows(const IndexBox& index_box, const BoxLayout& from, const BoxLayout& to);

/// All that a decomposition is, to be compared over ranks.
std::vector<Index> numbers_of(const Decomposition& decomposition);

/// InputError unless the grid has cells in a box with lengths, for particles of three dimensions,
/// and the decomposition is for that many ranks.
void validate_mesh(const Communicator& comm, const Decomposition& decomposition, int dimensions);
void validate_window(Window window);

/// That the field has the cells of this rank of `comm`, whose size is that of the decomposition.
template <class T>
void validate_field(const Communicator& comm, const Field<T>& field) {
  const IndexBox own = field.decomposition().cells(comm.rank());
  validate(
      field.cells() == own,
      "the field has other cells than this rank: it was made with a context of other ranks, or "
      "in another order (take the same for both)");
}

}  // namespace zhalo
