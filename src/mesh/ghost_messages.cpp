#include "src/mesh/ghost_messages.hpp"

#include <algorithm>
#include <array>
#include <tuple>

namespace zhalo {
namespace {

/// [lo, hi) of one axis.
struct Range {
  Index lo = 0;
  Index hi = 0;
};

/// Where cells of one part of an axis, seen in an image of the grid, are among the cells and ghosts
/// of another part.
struct Stretch {
  int part = 0;     ///< the one that is asked about
  Index shift = 0;  ///< from the owner's indices to the image's
  Range range;      ///< the image's indices
};
using Stretches = std::vector<Stretch>;

/// The decomposition along one axis: rows of ranks, columns, or one part.
class AxisParts {
 public:
  AxisParts(const Decomposition& decomposition, const Ghosts& ghosts, int axis)
      : below_(ghosts.below[axis]),
        above_(ghosts.above[axis]),
        period_(decomposition.grid().num[axis]),
        periodic_(ghosts.periodic[axis]) {
    const int num_parts = axis == 2 ? 1 : decomposition.shape()[static_cast<std::size_t>(axis)];
    for (int part = 0; part < num_parts; ++part) {
      const IndexBox cells = decomposition.cells(axis == 0 ? decomposition.rank_at(part, 0)
                                                           : decomposition.rank_at(0, part));
      share_.push_back({cells.lo[axis], cells.hi[axis]});
    }
  }

  /// Cells of any part among the cells and ghosts of part `mine`.
  Stretches received(int mine) const {
    Stretches found;
    for (int part = 0; part < num_parts(); ++part)
      append_images(found, part, grown(mine), share(part));
    return found;
  }
  /// Cells of part `mine` among the cells and ghosts of any part.
  Stretches sent(int mine) const {
    Stretches found;
    for (int part = 0; part < num_parts(); ++part)
      append_images(found, part, grown(part), share(mine));
    return found;
  }

 private:
  int num_parts() const { return static_cast<int>(share_.size()); }
  const Range& share(int part) const { return share_[static_cast<std::size_t>(part)]; }
  Range grown(int part) const {
    const Range own = share(part);
    return own.lo < own.hi ? Range{own.lo - below_, own.hi + above_} : Range{};
  }

  void append_images(Stretches& found, int part, const Range& ghosts, const Range& cells) const {
    if (ghosts.lo == ghosts.hi || cells.lo == cells.hi) return;
    // The quotients are rounded towards 0: all images in reach are among these, and perhaps one
    // more at either end.
    const Index first = periodic_ ? (ghosts.lo - cells.hi) / period_ : 0;
    const Index last = periodic_ ? (ghosts.hi - cells.lo) / period_ : 0;
    for (Index image = first; image <= last; ++image) {
      const Index shift = image * period_;
      const Range both{std::max(ghosts.lo, cells.lo + shift),
                       std::min(ghosts.hi, cells.hi + shift)};
      if (both.lo < both.hi) found.push_back({part, shift, both});
    }
  }

  Index below_;
  Index above_;
  Index period_;
  bool periodic_;
  std::vector<Range> share_;
};

/// Cells of the owner in the ghosts of another rank (or its own), by the indices there.
struct GhostBox {
  int rank = 0;  ///< the other side
  GridIndex shift{};
  IndexBox index_box;

  bool is_own_cells(int own_rank) const { return rank == own_rank && shift == GridIndex{}; }
};

/// Whatever is found on all three axes; ascending by rank, then image.
std::vector<GhostBox> combine(const Decomposition& decomposition,
                              const std::array<Stretches, 3>& axes) {
  std::vector<GhostBox> index_boxes;
  for (const Stretch& x : axes[0]) {
    for (const Stretch& y : axes[1]) {
      const int rank = decomposition.rank_at(x.part, y.part);
      for (const Stretch& z : axes[2]) {
        const IndexBox index_box{{{x.range.lo, y.range.lo, z.range.lo}},
                                 {{x.range.hi, y.range.hi, z.range.hi}}};
        index_boxes.push_back({rank, {{x.shift, y.shift, z.shift}}, index_box});
      }
    }
  }
  const auto key = [](const GhostBox& b) {
    return std::make_tuple(b.rank, b.shift[0], b.shift[1], b.shift[2]);
  };
  std::sort(index_boxes.begin(), index_boxes.end(),
            [&](const GhostBox& a, const GhostBox& b) { return key(a) < key(b); });
  return index_boxes;
}

}  // namespace

IndexBox with_ghosts(const Decomposition& decomposition, const Ghosts& ghosts, int rank) {
  const IndexBox cells = decomposition.cells(rank);
  return cells.empty() ? cells : cells.grown(ghosts.below, ghosts.above);
}

BoxMessages find_ghost_messages(const Decomposition& decomposition, const Ghosts& ghosts,
                                int rank) {
  const std::array<int, 3> part = {decomposition.row_of(rank), decomposition.column_of(rank), 0};
  std::array<Stretches, 3> received;
  std::array<Stretches, 3> sent;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const AxisParts parts(decomposition, ghosts, static_cast<int>(axis));
    received[axis] = parts.received(part[axis]);
    sent[axis] = parts.sent(part[axis]);
  }
  BoxMessages messages;
  for (const GhostBox& ghost : combine(decomposition, received)) {
    if (ghost.is_own_cells(rank)) continue;
    if (ghost.rank == rank) {
      messages.own.push_back({ghost.index_box.shifted(ghost.shift * -1), ghost.index_box});
    } else {
      messages.received.push_back({ghost.rank, ghost.index_box});
    }
  }
  for (const GhostBox& ghost : combine(decomposition, sent)) {
    if (ghost.rank != rank)
      messages.sent.push_back({ghost.rank, ghost.index_box.shifted(ghost.shift * -1)});
  }
  return messages;
}

}  // namespace zhalo
