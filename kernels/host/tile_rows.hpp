/// Particles by tiles where neighbours in memory are not neighbours in space: fetched one by one
/// from everywhere, each would cost a line of memory. Their rows are written once in the order of
/// tiles and then read from front to back.
#pragma once

#include <algorithm>
#include <utility>

#include "kernels/host/tile_runs.hpp"

namespace zhalo::kernels {

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
