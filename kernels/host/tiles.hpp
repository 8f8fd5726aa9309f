/// Deposits on the host: particles by tiles of cells that fit into the cache, tiles by colours that
/// do not touch each other.
///
/// Each tile is summed up in a buffer of its own and added to the cells once. Where it has few
/// particles that would cost more than it saves: they are added to the cells at once.
///
/// A window reaches at most one cell into the tile before, and three into the one behind. So
/// columns of tiles (along z) whose numbers along x and y are alike in parity never write to the
/// same cell: four colours, one after the other, the columns of each at the same time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "kernels/host/mass_assignment_blocks.hpp"
#include "kernels/host/tile_runs.hpp"

namespace zhalo::kernels {

/// Sums of one tile and of the cells before and behind it that windows reach.
template <int order>
class TileSums {
 public:
  static constexpr Index pitch = tile_pitch(order);

  /// The first cells of windows are from `first` on, `num` along each axis.
  void start(const Index (&first)[3], const Index (&num)[3]) {
    for (int a = 0; a < 3; ++a) {
      first_[a] = first[a];
      num_[a] = num[a] + order - 1;
    }
    sums_.resize(static_cast<std::size_t>(pitch * pitch * pitch));  // none before they are needed
    for (Index x = 0; x < num_[0]; ++x) std::fill_n(row(x, 0), num_[1] * pitch, Index{0});
  }

  void add(const AssignmentBlock& block) {
    deposit_blocks(block, order,
                   {sums_.data(), {first_[0], first_[1], first_[2]}, {pitch * pitch, pitch}});
  }

  void add(double fixed_weight, const AxisAssignment<order> (&assignment)[3]) {
    Index* const to = row(assignment[0].first - first_[0], assignment[1].first - first_[1]) +
                      (assignment[2].first - first_[2]);
    for_each_part<order>(fixed_weight, assignment, [&](int i, int j, int k, Index part) {
      to[(i * pitch + j) * pitch + k] += part;
    });
  }

  /// Adds the sums to the cells.
  void finish(const MeshCells& cells, Span<Index> sums) {
    const Index dense = num_[2] - (order - 1);
    const Index z = cells.axis[2].offset_of(first_[2]);
    for (Index i = 0; i < num_[0]; ++i) {
      const Index x = cells.axis[0].offset_of(first_[0] + i);
      for (Index j = 0; j < num_[1]; ++j) {
        Index* const to = sums.data() + x + cells.axis[1].offset_of(first_[1] + j);
        const Index* const from = row(i, j);
        add_row(from, dense, to + z);
        for (Index k = dense; k < num_[2]; ++k)
          to[cells.axis[2].offset_of(first_[2] + k)] += from[k];
      }
    }
  }

 private:
  Index* row(Index x, Index y) { return sums_.data() + (x * pitch + y) * pitch; }

  Index first_[3] = {};
  Index num_[3] = {};
  std::vector<Index> sums_;
};

/// Particles by tile, each wherever it lies: fetched along the tile's runs.
template <class Real>
class FetchedRows {
 public:
  FetchedRows(const PaintedRows<Real>& rows, const TileRuns& runs)
      : rows_(rows),
        runs_(runs),
        is_uniform_(rows.painted.is_uniform),
        fixed_weight_of_each_(is_uniform_ ? rows.fixed_weight(0) : 0) {}

  Index num_of(Index tile) const { return runs_.num_rows(tile); }

  /// add(block) for all particles of a tile.
  template <class Add>
  void for_each_block(Index tile, const Add& add) const {
    const Span<const Run> runs = runs_.of(tile);
    AssignmentBlock block;
    std::fill_n(block.fixed_weight, AssignmentBlock::size, fixed_weight_of_each_);
    for (Index r = 0; r < runs.size(); ++r) {
      if (r + prefetch_distance < runs.size()) prefetch_run(runs[r + prefetch_distance]);
      const Index end = runs[r].last() + 1;
      for (Index row = runs[r].first(); row < end;) {
        const Index num = std::min<Index>(end - row, AssignmentBlock::size - block.num);
        append(row, num, block);
        row += num;
        if (block.num < AssignmentBlock::size) continue;
        add(block);
        block.num = 0;
      }
    }
    if (block.num > 0) add(block);
  }

 private:
  void append(Index row, Index num, AssignmentBlock& block) const {
    for (Index i = 0; i < num && !is_uniform_; ++i)
      block.fixed_weight[block.num + i] = rows_.fixed_weight(row + i);
    if (num > 1) return append_positions(rows_.segment.pos, rows_.first + row, num, block);
    for (int a = 0; a < 3; ++a)
      block.pos[a][block.num] = static_cast<double>(rows_.segment.pos[a][rows_.first + row]);
    ++block.num;
  }

  void prefetch_run(const Run& run) const {
    for (const Strided<Real>& pos : rows_.segment.pos)
      prefetch_line(&pos[rows_.first + run.first()]);
  }

  const PaintedRows<Real>& rows_;
  const TileRuns& runs_;
  bool is_uniform_;
  double fixed_weight_of_each_;  ///< where all have the same
};

/// Sums of cells, and where each cell has its own.
struct CellSums {
  const MeshCells& cells;
  Span<Index> sums;
};

/// The cells that the windows of a tile cover, as TileSums, but without sums of the tile's own.
template <int order>
class AddedCells {
 public:
  /// The first cells of windows are from `first` on.
  AddedCells(const CellSums& to, const Index (&first)[3])
      : to_(to),
        view_{&at(first[0], first[1], first[2]),
              {first[0], first[1], first[2]},
              {to.cells.axis[0].stride, to.cells.axis[1].stride}} {}

  void add(const AssignmentBlock& block) { deposit_blocks(block, order, view_); }

  void add(double fixed_weight, const AxisAssignment<order> (&assignment)[3]) {
    for_each_part<order>(fixed_weight, assignment, [&](int i, int j, int k, Index part) {
      at(assignment[0].first + i, assignment[1].first + j, assignment[2].first + k) += part;
    });
  }

 private:
  Index& at(Index x, Index y, Index z) {
    const MeshAxis(&axis)[3] = to_.cells.axis;
    return to_.sums[axis[0].offset_of(x) + axis[1].offset_of(y) + axis[2].offset_of(z)];
  }

  CellSums to_;
  SumsView view_;
};

/// Particles by tile to the sums of cells.
template <int order>
class TileDeposit {
 public:
  explicit TileDeposit(const Tiles& tiles) : tiles_(tiles) {}

  /// All tiles.
  template <class Rows>
  void run(const Host& exec, const Rows& rows, Span<Index> sums) const {
    const CellSums to{tiles_.cells(), sums};
    for (Index colour = 0; colour < 4; ++colour) {
      const Index odd_x = colour / 2;
      const Index odd_y = colour % 2;
      const Index num_x = (tiles_.axis(0).size() - odd_x + 1) / 2;
      const Index num_y = (tiles_.axis(1).size() - odd_y + 1) / 2;
      run_tasks(exec, num_x * num_y, [&](Index column) {
        TileSums<order> tile;
        add_column(rows, {2 * (column / num_y) + odd_x, 2 * (column % num_y) + odd_y}, tile, to);
      });
    }
  }

  struct Column {
    Index x = 0;
    Index y = 0;
  };
  /// Of first cells of windows: where those of a tile begin.
  static Index begin_of(const AxisTiles& axis, Index at) {
    return axis.begin_of(at) - (may_be_one_more(order) && at > 0 ? 1 : 0);
  }
  template <class Rows>
  void add_column(const Rows& rows, const Column& column, TileSums<order>& tile,
                  const CellSums& to) const {
    for (Index z = 0; z < tiles_.axis(2).size(); ++z) {
      const Index number = tiles_.number(column.x, column.y, z);
      const Index num_rows = rows.num_of(number);
      if (num_rows == 0) continue;
      const Index at[3] = {column.x, column.y, z};
      Index first[3];
      Index num[3];
      for (int a = 0; a < 3; ++a) {
        first[a] = begin_of(tiles_.axis(a), at[a]);
        num[a] = tiles_.axis(a).begin_of(at[a] + 1) - first[a];
      }
      const bool are_few = num_rows * cells_of_few < num[0] * num[1] * num[2];
      if (are_few && is_in_reach(first, num, to.cells)) {
        AddedCells<order> cells(to, first);
        add_rows(rows, number, cells);
        continue;
      }
      tile.start(first, num);
      add_rows(rows, number, tile);
      tile.finish(to.cells, to.sums);
    }
  }

 private:
  /// Fewer particles than one in so many cells are few.
  static constexpr Index cells_of_few = 8;

  /// Whether no window reaches from the end of an axis to its beginning, and SumsView can count to
  /// all cells.
  static bool is_in_reach(const Index (&first)[3], const Index (&num)[3], const MeshCells& cells) {
    bool all = tile_pitch(order) * cells.axis[0].stride <= std::numeric_limits<std::int32_t>::max();
    for (int a = 0; a < 3; ++a)
      all = all && !(cells.axis[a].wraps && first[a] + num[a] + order - 1 > cells.axis[a].num);
    return all;
  }

  /// To the sums of the tile or to the cells.
  template <class Rows, class Sums>
  void add_rows(const Rows& rows, Index tile, Sums& sums) const {
    rows.for_each_block(tile, [&](AssignmentBlock& block) {
      locate_assignments(tiles_.cells(), block);
      sums.add(block);
      for (int at = 0; block.has_odd && at < block.num; ++at) {
        if (!block.is_odd[at]) continue;
        const MassAssignment<order, double> assignment(
            tiles_.cells(), {{block.pos[0][at], block.pos[1][at], block.pos[2][at]}});
        sums.add(block.fixed_weight[at], assignment.axis);
      }
    });
  }

  const Tiles& tiles_;
};

// Particles by tiles where neighbours in memory are not neighbours in space: fetched one by one
// from everywhere, each would cost a line of memory. Their rows are written once in the order of
// tiles and then read from front to back.

/// visit(row, tile) for rows [first, last).
template <int order, class Real, class Visit>
void for_each_tile(const Tiles& tiles, const PaintedRows<Real>& rows, Index first, Index last,
                   const Visit& visit) {
  AssignmentBlock block;
  alignas(64) LocalIndex tile[AssignmentBlock::size];
  for (Index row = first; row < last; row += block.num) {
    rows.put_positions(row, last, block);
    locate_assignments(tiles.cells(), block);
    tiles.find<order>(block, tile);
    for (int at = 0; at < block.num; ++at) visit(row + at, tile[at]);
  }
}

/// Are there enough particles for the cells, and runs so short, that rows had better be moved? By a
/// sample.
template <int order, class Real>
bool is_scattered(const Tiles& tiles, const PaintedRows<Real>& rows) {
  constexpr Index few_rows = host_block, max_samples = 64, rows_per_sample = 1024, shortest_run = 4,
                  cells_per_row = 16;
  if (rows.num < few_rows || rows.num < tiles.num_cells() / cells_per_row) return false;
  const Index num_samples = std::min(rows.num / rows_per_sample, max_samples);
  Index num_runs = 0;
  for (Index sample = 0; sample < num_samples; ++sample) {
    const Index first = sample * (rows.num / num_samples);
    LocalIndex now = static_cast<LocalIndex>(tiles.size());
    for_each_tile<order>(tiles, rows, first, first + AssignmentBlock::size,
                         [&](Index, LocalIndex tile) {
                           num_runs += tile != now ? 1 : 0;
                           now = tile;
                         });
  }
  return num_runs * shortest_run > num_samples * AssignmentBlock::size;
}

/// Rows in the order of tiles.
template <class Real>
class TileRows {
 public:
  /// Memory that is taken.
  static Index bytes_per_row(const PaintedRows<Real>& rows) {
    return static_cast<Index>(sizeof(LocalIndex) + 3 * sizeof(Real) +
                              (rows.painted.is_uniform ? 0 : sizeof(double)));
  }

  template <int order>
  static TileRows sorted(const Host& exec, const Tiles& tiles, const PaintedRows<Real>& rows) {
    const Index num_tasks = std::clamp<Index>(rows.num / host_block, 1, threads_of(exec));
    const auto first_of = [&](Index task) { return task * rows.num / num_tasks; };
    TileRows sorted(exec, rows, TileIndices(num_tasks, tiles.size()));
    Buffer<LocalIndex> tile_of(exec, rows.num, "tiles of particles");
    run_tasks(exec, num_tasks, [&](Index task) {
      LocalIndex* const count = sorted.indices_.of_task(task);
      const auto note = [&](Index row, LocalIndex tile) {
        tile_of.data()[row] = tile;
        ++count[tile];
      };
      for_each_tile<order>(tiles, rows, first_of(task), first_of(task + 1), note);
    });
    sorted.indices_.sum_up();
    run_tasks(exec, num_tasks, [&](Index task) {
      LocalIndex* const next = sorted.indices_.of_task(task);
      for (Index row = first_of(task); row < first_of(task + 1); ++row)
        sorted.put(rows, row, next[tile_of.data()[row]]++);
    });
    sorted.indices_.forget_tasks();
    return sorted;
  }

  Index num_of(Index tile) const { return indices_.begin_of(tile + 1) - indices_.begin_of(tile); }

  /// add(block) for all particles of a tile.
  template <class Add>
  void for_each_block(Index tile, const Add& add) const {
    constexpr auto row_bytes = static_cast<Index>(3 * sizeof(Real));
    const Strided<Real> pos[3] = {
        {pos_.data(), row_bytes}, {pos_.data() + 1, row_bytes}, {pos_.data() + 2, row_bytes}};
    const Index end = indices_.begin_of(tile + 1);
    AssignmentBlock block;
    std::fill_n(block.fixed_weight, AssignmentBlock::size, fixed_weight_of_each_);
    for (Index row = indices_.begin_of(tile); row < end; row += block.num) {
      const Index num = std::min<Index>(end - row, AssignmentBlock::size);
      block.num = 0;
      append_positions(pos, row, num, block);
      if (!fixed_weight_.empty()) std::copy_n(fixed_weight_.data() + row, num, block.fixed_weight);
      add(block);
    }
  }

 private:
  TileRows(const Host& exec, const PaintedRows<Real>& rows, TileIndices indices)
      : indices_(std::move(indices)), pos_(exec, 3 * rows.num, "particles by tile") {
    if (rows.painted.is_uniform) {
      fixed_weight_of_each_ = rows.fixed_weight(0);
    } else {
      fixed_weight_ = Buffer<double>(exec, rows.num, "weights by tile");
    }
  }

  void put(const PaintedRows<Real>& rows, Index row, LocalIndex index) {
    for (int a = 0; a < 3; ++a)
      pos_.data()[3 * Index{index} + a] = rows.segment.pos[a][rows.first + row];
    if (!fixed_weight_.empty()) fixed_weight_.data()[index] = rows.fixed_weight(row);
  }

  TileIndices indices_;
  Buffer<Real> pos_;             ///< three of each
  Buffer<double> fixed_weight_;  ///< or none, where all have the same
  double fixed_weight_of_each_ = 0;
};

}  // namespace zhalo::kernels
