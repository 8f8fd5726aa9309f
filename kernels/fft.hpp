/// The contract's part on Fourier transforms: planes of lines, and whole grids.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "zhalo/core/buffer.hpp"
#include "zhalo/core/exec.hpp"
#include "zhalo/core/span.hpp"

namespace zhalo::kernels {

/// What is done to each row of a plane. Rows are num_columns complex numbers long, or as cells
/// line_length reals.
enum class RowTransform { none, real_to_complex, complex_to_real, forward, backward };
enum class ColumnTransform { none, forward, backward };

/// Work on planes of rows x columns complex numbers: they are loaded from memory, transformed, and
/// stored to memory. With `load_rows` they are loaded from cells, by transforming each row; with
/// `store_rows` they are stored to cells.
struct PlaneSteps {
  Index num_rows = 0;
  Index num_columns = 0;
  Index line_length = 0;  ///< cells of a row
  RowTransform load_rows = RowTransform::none;
  ColumnTransform columns = ColumnTransform::none;
  RowTransform store_rows = RowTransform::none;
  std::vector<Index> calls{};          ///< numbers of planes of the calls to come
  Index room_bytes = Index{64} << 20;  ///< of the planes that a device has in work at once
  bool measure = false;                ///< try several ways and take the fastest

  Index max_planes() const {
    return calls.empty() ? 0 : *std::max_element(calls.begin(), calls.end());
  }
  friend bool operator==(const PlaneSteps&, const PlaneSteps&) = default;
};

/// Where a part of each plane lies: rows [first_row, first_row + num_rows) x columns [first_column,
/// first_column + num_columns). Strides are in elements: Real for cells of a real field, else
/// complex numbers.
struct PlanePiece {
  void* data = nullptr;
  Index first_row = 0;
  Index num_rows = 0;
  Index first_column = 0;
  Index num_columns = 0;
  Index first_plane = 0;  ///< the plane that `data` is of
  Index plane_stride = 0;
  Index row_stride = 0;

  ZHALO_HD constexpr Index offset(Index plane, Index row) const {
    return (plane - first_plane) * plane_stride + (row - first_row) * row_stride;
  }
};

/// Planes [first_plane, first_plane + num_planes) of what the pieces name. Cells are one piece with
/// all rows.
template <class Real>
struct PlaneJob {
  Index first_plane = 0;
  Index num_planes = 0;
  Span<const PlanePiece> load;
  Span<const PlanePiece> store;
  /// Called now and then by the thread that called run(), or null.
  const std::function<void()>* between = nullptr;
  Real factor = 1;        ///< of all that is stored to pieces
  bool is_large = false;  ///< what is stored will not be in the cache when it is read again
};

/// A planned way to do the steps. Storing may overwrite what planes up to the same number were
/// loaded from.
template <class Real>
class PlanePlan {
 public:
  virtual ~PlanePlan() = default;
  /// Memory of the Exec that run() needs, aligned to 64 bytes.
  virtual Index workspace_bytes() const = 0;
  virtual void run(const PlaneJob<Real>& job, Span<std::byte> workspace) const = 0;
};

template <class Real>
using PlanePlans = std::vector<std::shared_ptr<const PlanePlan<Real>>>;

/// A plan for each of `steps`, which are all measured or none. Together they are planned faster.
template <class Real>
PlanePlans<Real> plan_planes(const Host& exec, const std::vector<PlaneSteps>& steps);
template <class Real>
PlanePlans<Real> plan_planes(const Cuda& exec, const std::vector<PlaneSteps>& steps);

/// A transform of a whole grid. Cells and modes lie x, y, z in memory, z fastest. Modes are dense.
struct GridSteps {
  Index num[3] = {1, 1, 1};  ///< cells, by axis
  bool is_real = true;       ///< cells are reals, else complex numbers; then modes are as many
  bool is_forward = true;
  bool keeps_modes = true;         ///< backward; else they hold anything afterwards
  std::vector<Index> row_strides;  ///< of cells, in elements, in the calls to come
};

/// Cells and modes may be the same memory.
template <class Real>
struct GridJob {
  void* cells = nullptr;
  void* modes = nullptr;
  Index row_stride = 0;  ///< of cells, in elements: one of the steps' strides
  Real factor = 1;       ///< of the result
};

template <class Real>
class GridPlan {
 public:
  virtual ~GridPlan() = default;
  /// Whether the arrays are aligned as it must be.
  virtual bool suits(const GridJob<Real>& job) const = 0;
  /// Memory of the Exec that run() needs, aligned to 64 bytes.
  virtual Index workspace_bytes() const = 0;
  virtual void run(const GridJob<Real>& job, Span<std::byte> workspace) const = 0;
};

/// Null where planes are the way.
template <class Real>
std::unique_ptr<GridPlan<Real>> plan_grid(const Host&, const GridSteps&) {
  return nullptr;
}
template <class Real>
std::unique_ptr<GridPlan<Real>> plan_grid(const Cuda& exec, const GridSteps& steps);

}  // namespace zhalo::kernels
