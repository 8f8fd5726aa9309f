/// Windows of mass assignment, and a distributed field with ghost layers.
#pragma once

#include <memory>

#include "zhalo/comm/context.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/fft/decomposition.hpp"

namespace zhalo {

// Mass assignment windows: how particles are spread over cells, and how fields are read at points.

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

// Fields with ghost layers.

/// Layers of other ranks' cells around each rank's index box, per axis. They may have any width,
/// also wider than the next rank's cells or than the whole grid.
struct Ghosts {
  GridIndex below{};  ///< at the lower end
  GridIndex above{};  ///< at the upper end
  /// Whether the field continues on the other side of the grid. If not, layers beyond the edge
  /// belong to no cell: pull_ghosts() does not change them, and push_ghosts() drops their values.
  Vec<bool, 3> periodic{{true, true, true}};

  /// `width` layers on all sides.
  static constexpr Ghosts all_around(Index width) {
    return {{{width, width, width}}, {{width, width, width}}};
  }
};

struct GhostExchange;

/// This rank's cells of a field and the ghosts around them, in one array in x, y, z order (z
/// fastest). A rank without cells has no ghosts. The field owns the array, which is memory of the
/// context's Exec and not initialised. T: int32, int64, float, double, or std::complex of the
/// latter two. The context must outlive the field.
template <class T>
class Field {
 public:
  /// Collective: the ranks agree once on who exchanges what. InputError for a negative width, a
  /// decomposition for another number of ranks, or arguments that differ between ranks.
  Field(const Context& context, const Decomposition& decomposition, const Ghosts& ghosts = {});
  Field(Context&&, const Decomposition&, const Ghosts& = {}) = delete;  // it would end too early
  ~Field();
  Field(Field&& other) noexcept;
  Field& operator=(Field&& other) noexcept;
  Field(const Field&) = delete;
  Field& operator=(const Field&) = delete;

  const Decomposition& decomposition() const { return decomposition_; }
  /// This rank's own cells.
  const IndexBox& cells() const { return cells_; }
  /// Layout of own cells and ghosts. layout().offset(cell) is the index of a cell in span(). For a
  /// ghost, `cell` may be below 0 or beyond the grid.
  const BoxLayout& layout() const { return layout_; }
  Span<T> span() { return values_.span(); }
  Span<const T> span() const { return values_.span(); }

  /// Copies the owners' values into all ghosts, including edges and corners. Collective.
  void pull_ghosts();
  /// Adds every ghost to its owner's cell and sets the ghost to 0: the adjoint of pull_ghosts().
  /// Collective. The order of the sums is fixed. A cell gets first the ghosts of its own rank, then
  /// those of ranks 0, 1, ... Ghosts of one rank are in the order of the grid's images, x slowest.
  void push_ghosts();

 private:
  const Context* context_;
  Decomposition decomposition_;
  IndexBox cells_;
  BoxLayout layout_;
  Buffer<T> values_;
  std::shared_ptr<const GhostExchange> exchange_;
};

}  // namespace zhalo
