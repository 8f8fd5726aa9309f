#include "src/mesh/painted_cells.hpp"

#include "src/comm/agreement.hpp"
#include "src/core/validate.hpp"
#include "src/domain/positions.hpp"

namespace zhalo {
namespace {

/// z is never divided.
bool is_divided(const Decomposition& decomposition, int axis) {
  return axis < 2 && decomposition.shape()[static_cast<std::size_t>(axis)] > 1;
}

}  // namespace

Ghosts assignment_ghosts(const Decomposition& decomposition, Window window) {
  Ghosts ghosts;
  for (int axis = 0; axis < 3; ++axis) {
    ghosts.above[axis] = is_divided(decomposition, axis) ? order_of(window) - 1 : 0;
    ghosts.periodic[axis] = decomposition.grid().box.periodic[axis];
  }
  return ghosts;
}

kernels::MeshCells mesh_cells(const Decomposition& decomposition, int rank,
                              const AssignmentFrame& frame, const BoxLayout& layout) {
  const Grid& grid = decomposition.grid();
  const IndexBox own = decomposition.cells(rank);
  kernels::MeshCells cells;
  cells.order = order_of(frame.window);
  for (int a = 0; a < 3; ++a) {
    kernels::MeshAxis& axis = cells.axis[a];
    axis.lo = grid.box.lo[a];
    axis.length = grid.box.length[a];
    axis.cells_per_length = static_cast<double>(grid.num[a]) / grid.box.length[a];
    axis.offset = 0.5 + frame.shift[a];
    axis.num = grid.num[a];
    axis.periodic = grid.box.periodic[a];
    axis.first = own.lo[a];
    axis.stride = layout.stride[a];
    axis.wraps = axis.periodic && !is_divided(decomposition, a);
    axis.num_own = own.length(a);
  }
  return cells;
}

kernels::CellRows cell_rows(const IndexBox& index_box, const BoxLayout& from, const BoxLayout& to) {
  kernels::CellRows rows;
  for (int axis = 0; axis < 3; ++axis) rows.num[axis] = index_box.length(axis);
  for (int axis = 0; axis < 2; ++axis) {
    rows.from_stride[axis] = from.stride[axis];
    rows.to_stride[axis] = to.stride[axis];
  }
  return rows;
}

std::vector<Index> numbers_of(const Decomposition& decomposition) {
  const Grid& grid = decomposition.grid();
  std::vector<Index> numbers{decomposition.shape()[0], decomposition.shape()[1]};
  for (int axis = 0; axis < 3; ++axis)
    numbers.insert(numbers.end(),
                   {grid.num[axis], bits_of(grid.box.lo[axis]), bits_of(grid.box.length[axis]),
                    grid.box.periodic[axis] ? Index{1} : Index{0}});
  return numbers;
}

void validate_mesh(const Communicator& comm, const Decomposition& decomposition, int dimensions) {
  const Box& box = decomposition.grid().box;
  validate(dimensions == 3, "particles of {} dimensions on a mesh (must have 3)", dimensions);
  validate_box(box, dimensions);
  for (int axis = 0; axis < 3; ++axis) {
    validate(box.length[axis] > 0,
             "the box of a mesh has no length along {}; give the box that the mesh fills",
             "xyz"[axis]);
  }
  validate(decomposition.num_ranks() == comm.size(),
           "a mesh is divided for {} ranks, but there are {} (make the decomposition for as many)",
           decomposition.num_ranks(), comm.size());
}

void validate_window(Window window) {
  const int order = order_of(window);
  validate(order >= 1 && order <= 4,
           "a window of order {} (must be 1, 2, 3 or 4: ngp, cic, tsc, pcs)", order);
}

}  // namespace zhalo
