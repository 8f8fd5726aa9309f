/// A distributed field with ghost layers.
#pragma once

#include <complex>
#include <memory>

#include "zhalo/comm/context.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/fft/decomposition.hpp"

namespace zhalo {

/// Layers of other ranks' cells around each rank's index box, per axis. Any width: beyond the next
/// rank, or the whole grid.
struct Ghosts {
  GridIndex below{};  ///< at the lower end
  GridIndex above{};
  /// Beyond the grid's edge the field goes on from the other side; else there are no ghosts, pulled
  /// layers there stay as they are, and what was pushed there is lost.
  Vec<bool, 3> periodic{{true, true, true}};

  /// `width` layers on all sides.
  static constexpr Ghosts all_around(Index width) {
    return {{{width, width, width}}, {{width, width, width}}};
  }
};

struct GhostExchange;

/// This rank's cells of a field and the ghosts around them (none where it has no cells), in one
/// array of x, y, z order (z fastest), in memory of the context's Exec, uninitialised. T: int32,
/// int64, float, double, or std::complex of the latter two. The context must outlive the field.
template <class T>
class Field {
 public:
  /// Collective: who exchanges what is agreed here once. InputError for a negative width, or a
  /// decomposition for another number of ranks.
  Field(const Context& context, const Decomposition& decomposition, const Ghosts& ghosts = {});
  ~Field();
  Field(Field&& other) noexcept;
  Field& operator=(Field&& other) noexcept;
  Field(const Field&) = delete;
  Field& operator=(const Field&) = delete;

  const Decomposition& decomposition() const { return decomposition_; }
  /// This rank's own cells.
  const IndexBox& cells() const { return cells_; }
  /// Own cells and ghosts: layout().offset(cell) is the place of a cell, whose index may be below 0
  /// or beyond the grid.
  const BoxLayout& layout() const { return layout_; }
  Span<T> span() { return values_.span(); }
  Span<const T> span() const { return values_.span(); }

  /// Copies the owners' values into all ghosts, edges and corners included. Collective.
  void pull_ghosts();
  /// Adds every ghost to its owner's cell and sets it to 0: the adjoint of pull_ghosts().
  /// Collective. To each cell are added, in this order, the ghosts of its own rank, then those of
  /// ranks 0, 1, ...; those of one rank in the order of the grid's images, x slowest.
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
