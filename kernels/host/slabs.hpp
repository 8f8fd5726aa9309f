/// Painting on the host without sums of all cells at once: a thread takes a slab of tiles along x
/// and goes through it along y. Its sums are those of the rows that the next tiles still reach,
/// which stay in the cache; a row that no more tile reaches becomes values of cells at once.
///
/// Windows reach from a slab into the next one: even slabs leave the sums of the planes that they
/// share with odd ones, and odd slabs, which come when these have ended, add theirs.
#pragma once

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "kernels/common/mesh/paint.hpp"
#include "kernels/host/mass_assignment_blocks.hpp"
#include "kernels/host/tiles.hpp"

namespace zhalo::kernels {

/// Slabs and tiles reach no further than into the next one, and both axes close after an even
/// number of them: where each has more than one tile.
inline bool has_slabs(const MeshCells& cells) {
  return cells.axis[0].num_own > max_tile_cells && cells.axis[1].num_own > max_tile_cells;
}

/// All particles by tile.
template <class Real>
class SortedRows {
 public:
  /// None if that would take more memory than half of the cells' sums.
  template <int order>
  static std::optional<SortedRows> sorted(const Host& exec, const Tiles& tiles,
                                          const PaintInput<Real>& painted) {
    SortedRows all;
    Index bytes = 0;
    for_each_rows(painted, [&](const PaintedRows<Real>& rows) {
      const bool is_moved = is_scattered<order>(tiles, rows);
      all.parts_.push_back({rows, {}, {}, is_moved});
      bytes += rows.num *
               (is_moved ? TileRows<Real>::bytes_per_row(rows) : static_cast<Index>(sizeof(Run)));
      bytes += tiles.size() * TileIndices::bytes_per_tile;
    });
    if (bytes > tiles.num_cells() * static_cast<Index>(sizeof(Index)) / 2) return {};
    for (Part& part : all.parts_) {
      if (part.is_moved) {
        part.moved.emplace(TileRows<Real>::template sorted<order>(exec, tiles, part.rows));
      } else {
        part.runs.emplace(TileRuns::sorted<order>(exec, tiles, part.rows));
      }
    }
    return all;
  }

  Index num_of(Index tile) const {
    return std::accumulate(
        parts_.begin(), parts_.end(), Index{0}, [&](Index num, const Part& part) {
          return num + (part.is_moved ? part.moved->num_of(tile) : part.runs->num_rows(tile));
        });
  }

  /// add(block) for all particles of a tile.
  template <class Add>
  void for_each_block(Index tile, const Add& add) const {
    for (const Part& part : parts_) {
      if (part.is_moved) {
        part.moved->for_each_block(tile, add);
      } else {
        FetchedRows<Real>(part.rows, *part.runs).for_each_block(tile, add);
      }
    }
  }

 private:
  struct Part {
    PaintedRows<Real> rows;
    std::optional<TileRows<Real>> moved;
    std::optional<TileRuns> runs;
    bool is_moved;
  };
  std::vector<Part> parts_;
};

/// Sums of a slab's planes and some of their rows, which move on along y.
template <int order>
class SlabSums {
 public:
  static constexpr Index num_rows = tile_pitch(order);

  /// From one plane on.
  SlabSums(const MeshCells& cells, Index first_plane, Index num_planes)
      : cells_(cells),
        num_planes_(num_planes),
        row_size_(cells.axis[2].num_own),
        pitch_(pitch_of(row_size_)) {
    for (int a = 0; a < 2; ++a) cells_.axis[a].wraps = false;  // what is behind the end comes back
    cells_.axis[0].first = first_plane;
    cells_.axis[0].stride = num_rows * pitch_;
    cells_.axis[1].first = 0;
    cells_.axis[1].stride = pitch_;
    sums_.resize(static_cast<std::size_t>(num_planes * num_rows * pitch_));
  }

  /// An odd number of cache lines: rows of equal z do not compete for the same lines of the cache.
  static Index pitch_of(Index num) {
    constexpr Index line = 64 / static_cast<Index>(sizeof(Index));
    return ((num + line - 1) / line | 1) * line;
  }

  CellSums target() { return {cells_, Span<Index>(sums_)}; }
  Index first_plane() const { return cells_.axis[0].first; }
  Index end_plane() const { return first_plane() + num_planes_; }
  Index row_size() const { return row_size_; }
  Index pitch() const { return pitch_; }
  Index* row(Index x, Index y) {
    return sums_.data() + ((x - first_plane()) * num_rows + (y - cells_.axis[1].first)) * pitch_;
  }

  /// Rows from `y` on stay, those before it become rows behind them that hold nothing.
  void move_to(Index y) {
    const Index size = num_rows * pitch_;
    const Index dropped = (y - cells_.axis[1].first) * pitch_;
    for (Index x = 0; x < num_planes_; ++x) {
      Index* const plane = sums_.data() + x * size;
      std::copy(plane + dropped, plane + size, plane);
      std::fill_n(plane + size - dropped, dropped, Index{0});
    }
    cells_.axis[1].first = y;
  }

 private:
  MeshCells cells_;
  Index num_planes_;
  Index row_size_;
  Index pitch_;
  std::vector<Index> sums_;
};

/// The planes that a slab shares with the one before it.
class SharedPlanes {
 public:
  SharedPlanes(const Host& exec, const MeshCells& cells, Index num_slabs, Index num_planes)
      : num_planes_(num_planes),
        num_rows_(cells.axis[1].num_own),
        row_size_(cells.axis[2].num_own),
        sums_(exec, num_slabs * num_planes * num_rows_ * row_size_, "sums of cells") {}

  Index* row(Index slab, Index plane, Index y) {
    return sums_.data() + ((slab * num_planes_ + plane) * num_rows_ + y) * row_size_;
  }

 private:
  Index num_planes_;
  Index num_rows_;
  Index row_size_;
  Buffer<Index> sums_;
};

template <int order, class To>
class SlabDeposit {
 public:
  SlabDeposit(const Host& exec, const Tiles& tiles, const PaintTarget<To>& to)
      : exec_(exec),
        tiles_(tiles),
        to_(to),
        num_slabs_(tiles.axis(0).size()),
        shared_(exec, tiles.cells(), num_slabs_, reach) {}

  /// Returns the sum of all cells.
  template <class Rows>
  Index run(const Rows& rows) {
    std::vector<Index> sums(static_cast<std::size_t>(num_slabs_));
    for (Index odd = 0; odd < 2; ++odd) {
      run_tasks(exec_, num_slabs_ / 2, [&](Index i) {
        sums[static_cast<std::size_t>(2 * i + odd)] = add_slab(rows, 2 * i + odd);
      });
    }
    return std::accumulate(sums.begin(), sums.end(), Index{0});
  }

 private:
  using Deposit = TileDeposit<order>;
  /// Planes that two slabs share, at most: rows that two tiles do.
  static constexpr Index reach = order - 1 + (may_be_one_more(order) ? 1 : 0);

  Index num(int a) const { return tiles_.cells().axis[a].num; }
  bool is_periodic(int a) const { return tiles_.cells().axis[a].periodic; }

  /// The first plane that windows of a slab's particles reach.
  Index begin_of(Index slab) const { return Deposit::begin_of(tiles_.axis(0), slab); }

  template <class Rows>
  Index add_slab(const Rows& rows, Index slab) {
    const AxisTiles& along_y = tiles_.axis(1);
    const Index first = begin_of(slab);
    const Index end = tiles_.axis(0).begin_of(slab + 1);
    SlabSums<order> sums(tiles_.cells(), first, end - first + order - 1);
    TileSums<order> tile;
    std::vector<Index> front;  // the first rows, which windows reach again from behind the last
    const Index num_front = is_periodic(1) ? order - 1 : 0;
    Index sum = 0;
    for (Index y = 0; y < along_y.size(); ++y) {
      const bool is_last = y + 1 == along_y.size();
      const Index next = is_last ? num(1) : Deposit::begin_of(along_y, y + 1);
      Deposit(tiles_).add_column(rows, {slab, y}, tile, sums.target());
      if (y == 0) front = rows_of(sums, 0, num_front);
      if (is_last) add_rows(front, num_front, sums);
      for (Index row = std::max(Deposit::begin_of(along_y, y), num_front); row < next; ++row)
        sum += finish_row(slab, sums, row, row);
      if (!is_last) sums.move_to(next);
    }
    for (Index row = 0; row < num_front; ++row) sum += finish_row(slab, sums, num(1) + row, row);
    return sum;
  }

  /// Of all planes.
  static std::vector<Index> rows_of(SlabSums<order>& sums, Index first, Index num_rows) {
    std::vector<Index> rows;
    for (Index x = sums.first_plane(); x < sums.end_plane(); ++x)
      rows.insert(rows.end(), sums.row(x, first), sums.row(x, first + num_rows));
    return rows;
  }
  /// To the rows behind the last.
  void add_rows(const std::vector<Index>& front, Index num_rows, SlabSums<order>& sums) const {
    const Index* from = front.data();
    for (Index x = sums.first_plane(); x < sums.end_plane(); ++x) {
      add_row(from, num_rows * sums.pitch(), sums.row(x, num(1)));
      from += num_rows * sums.pitch();
    }
  }

  /// Row `from` of the sums, which is complete in this slab, is row y of the cells.
  Index finish_row(Index slab, SlabSums<order>& sums, Index from, Index y) {
    const Index next = slab + 1 == num_slabs_ ? num(0) : begin_of(slab + 1);
    const Index first = sums.first_plane();
    const Index num_before = slab > 0 ? reach : is_periodic(0) ? order - 1 : 0;
    const Index end = is_periodic(0) ? sums.end_plane() : std::min(sums.end_plane(), num(0));
    Index sum = 0;
    for (Index x = first; x < end; ++x) {
      Index* const row = sums.row(x, from);
      Index* shared = nullptr;
      if (x >= next) shared = shared_.row((slab + 1) % num_slabs_, x - next, y);
      if (x < first + num_before) shared = shared_.row(slab, x - first, y);
      if (shared != nullptr && slab % 2 == 0) {
        std::copy_n(row, sums.row_size(), shared);
        continue;
      }
      if (shared != nullptr) add_row(shared, sums.row_size(), row);
      const Index own_x = x < num(0) ? x : x - num(0);
      sum += write_row(row, sums.row_size(), to_.map,
                       to_.first + own_x * to_.stride[0] + y * to_.stride[1]);
    }
    return sum;
  }

  const Host& exec_;
  const Tiles& tiles_;
  PaintTarget<To> to_;
  Index num_slabs_;
  SharedPlanes shared_;
};

}  // namespace zhalo::kernels
