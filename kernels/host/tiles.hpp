/// Deposits on the host: particles by tiles of cells that fit into the cache, tiles by colours that do not touch each other.
///
/// A tile is a box of at most 16^3 cells. Particles that follow each other in memory and belong to the same tile are a run; runs are sorted
/// by tile, which for particles along any space-filling order are few. Each tile is summed up in a buffer of its own and added to the cells
/// once. A cloud reaches at most into the next tile of each axis, so columns of tiles (along z) whose numbers along x and y are alike in
/// parity never write to the same cell: four colours, one after the other, the columns of each at the same time.
#pragma once

#include <algorithm>
#include <vector>

#include "kernels/common/paint.hpp"
#include "kernels/host/cloud_blocks.hpp"
#include "kernels/host/parallel.hpp"

namespace zhalo::kernels {

/// Tiles along an axis: a single one, or an even number, so that parities differ also where the axis closes; each of 8 cells at least,
/// for a
/// cloud to end in the next.
struct AxisTiles {
  static constexpr Index most_cells = 16;
  std::vector<Index> begin;         ///< first cell of each, and the end
  std::vector<LocalIndex> of_cell;  ///< by cell of this rank, times `step`

  AxisTiles() = default;
  AxisTiles(const MeshAxis& axis, Index step) : of_cell(static_cast<std::size_t>(axis.num_own)) {
    const Index n = axis.num_own;
    const Index num = n <= most_cells ? 1 : 2 * ((n + 2 * most_cells - 1) / (2 * most_cells));
    begin.reserve(static_cast<std::size_t>(num) + 1);
    for (Index t = 0; t <= num; ++t) begin.push_back(axis.first + t * n / num);
    for (Index t = 0; t < num; ++t) {
      std::fill(of_cell.begin() + (begin_of(t) - axis.first), of_cell.begin() + (begin_of(t + 1) - axis.first),
                static_cast<LocalIndex>(t * step));
    }
  }
  Index size() const { return static_cast<Index>(begin.size()) - 1; }
  Index begin_of(Index t) const { return begin[static_cast<std::size_t>(t)]; }
};

/// Rows [first, first + count) of a segment, all in one tile.
struct Run {
  LocalIndex first = 0;
  LocalIndex count = 0;
};

/// Some rows of one segment. A run's rows are counted from `first`.
template <class Real>
struct SegmentRows {
  const SegmentView<Real>& segment;
  Index first = 0;  ///< row
  Index num = 0;

  Index row(LocalIndex of_run) const { return first + Index{of_run}; }
  void put(Index row, int at, CloudBlock& block) const {
    for (int a = 0; a < 3; ++a) block.pos[a][at] = static_cast<double>(segment.pos[a][row]);
  }
  /// block.num rows.
  void put_all(Index row, CloudBlock& block) const {
    for (int a = 0; a < 3; ++a) {
      const Strided<Real> pos = segment.pos[a];
      for (int at = 0; at < block.num; ++at) block.pos[a][at] = static_cast<double>(pos[row + at]);
    }
  }
};

class Tiles {
 public:
  explicit Tiles(const MeshCells& cells) : cells_(cells) {
    Index step = 1;
    for (int a = 2; a >= 0; --a) {
      axis_[a] = AxisTiles(cells.axis[a], step);
      step *= axis_[a].size();
    }
  }

  Index size() const { return axis_[0].size() * axis_[1].size() * axis_[2].size(); }
  const MeshCells& cells() const { return cells_; }
  const AxisTiles& axis(int a) const { return axis_[a]; }
  Index number(Index x, Index y, Index z) const { return (x * axis_[1].size() + y) * axis_[2].size() + z; }

  /// The tiles of the first cells of all clouds.
  template <int order>
  void find(const CloudBlock& block, LocalIndex* tile) const {
    std::fill_n(tile, block.num, LocalIndex{0});
    for (int a = 0; a < 3; ++a) {
      const LocalIndex* const of_cell = axis_[a].of_cell.data();
      const Index first = cells_.axis[a].first;
      for (int at = 0; at < block.num; ++at) {
        const Index cell = block.is_odd[at] ? first_cell<order>(cells_.axis[a], block.pos[a][at]) : Index{block.first[a][at]};
        tile[at] += of_cell[cell - first];
      }
    }
  }

 private:
  MeshCells cells_;
  AxisTiles axis_[3];
};

/// Finds the runs of some rows, in order.
template <int order, class Real>
class RunFinder {
 public:
  struct Found {
    LocalIndex tile = 0;
    Run run;
  };

  /// Of rows [first, last).
  static std::vector<Found> find(const Tiles& tiles, const SegmentRows<Real>& rows, Index first, Index last) {
    std::vector<Found> found;
    CloudBlock block;
    LocalIndex tile[CloudBlock::size];
    Found run;
    for (Index begin = first; begin < last; begin += CloudBlock::size) {
      block.num = static_cast<int>(std::min<Index>(CloudBlock::size, last - begin));
      rows.put_all(rows.first + begin, block);
      locate_clouds(tiles.cells(), block);
      tiles.find<order>(block, tile);
      for (int at = 0; at < block.num; ++at) {
        if (tile[at] == run.tile && run.run.count > 0) {
          ++run.run.count;
          continue;
        }
        if (run.run.count > 0) found.push_back(run);
        run = {tile[at], {static_cast<LocalIndex>(begin + at), 1}};
      }
    }
    if (run.run.count > 0) found.push_back(run);
    return found;
  }
};

/// Runs of some rows, by tile.
class TileRuns {
 public:
  template <int order, class Real>
  static TileRuns sorted(const Host& exec, const Tiles& tiles, const SegmentRows<Real>& rows) {
    using Finder = RunFinder<order, Real>;
    TileRuns runs;
    const Index num_tasks = std::clamp<Index>(rows.num / host_block, 1, threads_of(exec));
    std::vector<std::vector<typename Finder::Found>> found(static_cast<std::size_t>(num_tasks));
    std::vector<LocalIndex> next(static_cast<std::size_t>(num_tasks * tiles.size()));
    const auto for_each_run = [&](Index task, const auto& visit) {
      LocalIndex* const of_task = next.data() + task * tiles.size();
      for (const auto& one : found[static_cast<std::size_t>(task)]) visit(of_task[one.tile], one.run);
    };
    run_tasks(exec, num_tasks, [&](Index task) {
      found[static_cast<std::size_t>(task)] =
          Finder::find(tiles, rows, task * rows.num / num_tasks, (task + 1) * rows.num / num_tasks);
      for_each_run(task, [](LocalIndex& count, const Run&) { ++count; });
    });
    runs.make_room(exec, next, tiles.size());
    run_tasks(exec, num_tasks, [&](Index task) {
      for_each_run(task, [&](LocalIndex& place, const Run& run) { runs.runs_.span()[Index{place++}] = run; });
    });
    return runs;
  }

  Span<const Run> of(Index tile) const {
    const Index first = begin_[static_cast<std::size_t>(tile)];
    return runs_.span().subspan(first, begin_[static_cast<std::size_t>(tile) + 1] - first);
  }

 private:
  /// Counts, by task and tile, become the places of the first runs.
  void make_room(const Host& exec, std::vector<LocalIndex>& counts, Index num_tiles) {
    const auto tiles = static_cast<std::size_t>(num_tiles);
    begin_.reserve(tiles + 1);
    LocalIndex place = 0;
    for (std::size_t tile = 0; tile < tiles; ++tile) {
      begin_.push_back(Index{place});
      for (std::size_t at = tile; at < counts.size(); at += tiles) {
        const LocalIndex count = counts[at];
        counts[at] = place;
        place += count;
      }
    }
    begin_.push_back(Index{place});
    runs_ = Buffer<Run>(exec, Index{place}, "runs of particles by tile");
  }

  std::vector<Index> begin_;
  Buffer<Run> runs_;
};

/// Sums of one tile and of the cells behind it that clouds reach.
template <int order>
class TileSums {
 public:
  static constexpr Index most = AxisTiles::most_cells + order - 1;

  TileSums() : sums_(static_cast<std::size_t>(most * most * most)) {}

  void start(const Index (&first)[3], const Index (&num)[3]) {
    for (int a = 0; a < 3; ++a) {
      first_[a] = first[a];
      num_[a] = num[a] + order - 1;
    }
    for (Index x = 0; x < num_[0]; ++x) std::fill_n(row(x, 0), num_[1] * most, Index{0});
  }

  void add(const CloudBlock& block) { deposit_clouds(block, order, {sums_.data(), most, {first_[0], first_[1], first_[2]}}); }

  void add(double quanta, const AxisCloud<order> (&cloud)[3]) {
    Index* const to = row(cloud[0].first - first_[0], cloud[1].first - first_[1]) + (cloud[2].first - first_[2]);
    for_each_part<order>(quanta, cloud, [&](int i, int j, int k, Index part) { to[(i * most + j) * most + k] += part; });
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
        for (Index k = 0; k < dense; ++k) to[z + k] += from[k];
        for (Index k = dense; k < num_[2]; ++k) to[cells.axis[2].offset_of(first_[2] + k)] += from[k];
      }
    }
  }

 private:
  Index* row(Index x, Index y) { return sums_.data() + (x * most + y) * most; }

  Index first_[3] = {};
  Index num_[3] = {};
  std::vector<Index> sums_;
};

/// The particles of some rows to the cells.
template <int order, class Real>
class TileDeposit {
 public:
  TileDeposit(const PaintedParticles<Real>& painted, const SegmentRows<Real>& rows, const Tiles& tiles, Span<Index> sums)
      : painted_(painted), rows_(rows), tiles_(tiles), sums_(sums), quanta_of_each_(quanta(0)) {}

  void run(const Host& exec) const {
    const TileRuns runs = TileRuns::sorted<order>(exec, tiles_, rows_);
    for (Index colour = 0; colour < 4; ++colour) {
      const Index odd_x = colour / 2;
      const Index odd_y = colour % 2;
      const Index num_x = (tiles_.axis(0).size() - odd_x + 1) / 2;
      const Index num_y = (tiles_.axis(1).size() - odd_y + 1) / 2;
      run_tasks(exec, num_x * num_y,
                [&](Index column) { add_column(runs, 2 * (column / num_y) + odd_x, 2 * (column % num_y) + odd_y); });
    }
  }

 private:
  void add_column(const TileRuns& runs, Index x, Index y) const {
    TileSums<order> tile;
    for (Index z = 0; z < tiles_.axis(2).size(); ++z) {
      const Span<const Run> of_tile = runs.of(tiles_.number(x, y, z));
      if (of_tile.empty()) continue;
      const Index at[3] = {x, y, z};
      Index first[3];
      Index num[3];
      for (int a = 0; a < 3; ++a) {
        first[a] = tiles_.axis(a).begin_of(at[a]);
        num[a] = tiles_.axis(a).begin_of(at[a] + 1) - first[a];
      }
      tile.start(first, num);
      add_runs(of_tile, tile);
      tile.finish(tiles_.cells(), sums_);
    }
  }

  /// Runs, a block of particles at a time.
  void add_runs(Span<const Run> runs, TileSums<order>& tile) const {
    CloudBlock block;
    for (Index r = 0; r < runs.size(); ++r) {
      if (r + prefetch_distance < runs.size()) prefetch_run(runs[r + prefetch_distance]);
      const Index first = rows_.row(runs[r].first);
      for (Index row = first; row < first + Index{runs[r].count}; ++row) {
        rows_.put(row, block.num, block);
        block.quanta[block.num] = painted_.is_uniform ? quanta_of_each_ : quanta(rows_.segment.first + row);
        if (++block.num == CloudBlock::size) add_block(block, tile);
      }
    }
    add_block(block, tile);
  }

  void add_block(CloudBlock& block, TileSums<order>& tile) const {
    locate_clouds(tiles_.cells(), block);
    tile.add(block);
    for (int at = 0; at < block.num; ++at) {
      if (!block.is_odd[at]) continue;
      const Clouds<order, double> clouds(tiles_.cells(), {{block.pos[0][at], block.pos[1][at], block.pos[2][at]}});
      tile.add(block.quanta[at], clouds.axis);
    }
    block.num = 0;
  }

  void prefetch_run(const Run& run) const {
    for (const Strided<Real>& pos : rows_.segment.pos) prefetch_line(&pos[rows_.row(run.first)]);
  }

  double quanta(Index i) const { return whole(painted_.weight(i) * painted_.scale); }

  const PaintedParticles<Real>& painted_;
  const SegmentRows<Real>& rows_;
  const Tiles& tiles_;
  Span<Index> sums_;
  double quanta_of_each_;  ///< where all have the same
};

}  // namespace zhalo::kernels
