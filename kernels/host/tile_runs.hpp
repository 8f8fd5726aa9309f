/// Particles by tiles of cells: a tile is a box of about 16^3 cells at most. Particles that follow
/// each other in memory and belong to the same tile are a run; runs are sorted by tile, which for
/// particles along any space-filling order are few: where a grid has a power of 2 of cells that
/// stand at (i + 1/2) h, tiles are boxes of the Z-order, too.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/common/mesh/mass_assignment.hpp"
#include "kernels/host/mass_assignment_blocks.hpp"
#include "kernels/host/parallel.hpp"
#include "kernels/host/positions.hpp"

namespace zhalo::kernels {

/// Tiles along an axis: a single one, or an even number, so that parities differ also where the
/// axis closes; each of 7 cells at least, for a window to end in the next. Of a window's first
/// cell, and for even orders the second, the one that is `cells_in_front` of the cell where the
/// particle is decides: so ends of tiles are in front of even divisions by as many.
struct AxisTiles {
  static constexpr Index max_cells = max_tile_cells;
  std::vector<Index> begin;         ///< first cell of each, and the end
  std::vector<LocalIndex> of_cell;  ///< by cell of this rank, times `step`

  AxisTiles() = default;
  AxisTiles(const MeshAxis& axis, int order, Index step)
      : of_cell(static_cast<std::size_t>(axis.num_own)) {
    const Index n = axis.num_own;
    const Index num = n <= max_cells ? 1 : 2 * ((n + 2 * max_cells - 1) / (2 * max_cells));
    begin.reserve(static_cast<std::size_t>(num) + 1);
    begin.push_back(axis.first);
    for (Index t = 1; t < num; ++t)
      begin.push_back(axis.first + t * n / num - cells_in_front(order));
    begin.push_back(axis.first + n);
    for (Index t = 0; t < num; ++t) {
      std::fill(of_cell.begin() + (begin_of(t) - axis.first),
                of_cell.begin() + (begin_of(t + 1) - axis.first),
                static_cast<LocalIndex>(t * step));
    }
  }
  Index size() const { return static_cast<Index>(begin.size()) - 1; }
  Index begin_of(Index t) const { return begin[static_cast<std::size_t>(t)]; }
};

/// Rows of one tile, counted from the first of those that are sorted together. Four bytes:
/// particles in random order have as many runs as there are particles.
class Run {
 public:
  static constexpr Index max_sorted = Index{1} << 24;
  static constexpr Index max_count = 256;

  /// `more`: rows behind the first.
  Run(std::uint32_t first, std::uint32_t more) : word_(first << 8 | more) {}
  Index first() const { return Index{word_ >> 8}; }
  Index last() const { return Index{word_ >> 8} + Index{word_ & 255}; }

 private:
  std::uint32_t word_;
};

/// Some rows of one segment, at most Run::max_sorted; here they are counted from the first.
template <class Real>
struct PaintedRows {
  const PaintInput<Real>& painted;
  const SegmentView<Real>& segment;
  Index first = 0;  ///< row of the segment
  Index num = 0;

  PaintedRows part(Index begin, Index end) const {
    return {painted, segment, first + begin, end - begin};
  }
  double fixed_weight(Index row) const {
    return whole(painted.weight(segment.first + first + row) * painted.scale);
  }
  PositionBounds bounds(Index row, Index num_rows) const {
    return bounds_of(segment.pos, first + row, num_rows);
  }
  /// The next rows, as many as there are and as the block holds.
  void put_positions(Index row, Index end, AssignmentBlock& block) const {
    block.num = 0;
    append_positions(segment.pos, first + row, std::min<Index>(end - row, AssignmentBlock::size),
                     block);
  }
};

/// visit(rows) for all particles, by as many as are sorted together: this bounds the memory.
template <class Real, class Visit>
void for_each_rows(const PaintInput<Real>& painted, const Visit& visit) {
  for (const SegmentView<Real>& segment : painted.particles.segments) {
    for (Index first = 0; first < segment.num; first += Run::max_sorted)
      visit(PaintedRows<Real>{painted, segment, first,
                              std::min(Run::max_sorted, segment.num - first)});
  }
}

class Tiles {
 public:
  explicit Tiles(const MeshCells& cells) : cells_(cells) {
    Index step = 1;
    for (int a = 2; a >= 0; --a) {
      axis_[a] = AxisTiles(cells.axis[a], cells.order, step);
      step *= axis_[a].size();
    }
  }

  Index size() const { return axis_[0].size() * axis_[1].size() * axis_[2].size(); }
  const MeshCells& cells() const { return cells_; }
  Index num_cells() const {
    return cells_.axis[0].num_own * cells_.axis[1].num_own * cells_.axis[2].num_own;
  }
  const AxisTiles& axis(int a) const { return axis_[a]; }
  Index number(Index x, Index y, Index z) const {
    return (x * axis_[1].size() + y) * axis_[2].size() + z;
  }

  /// The tile of all particles within these bounds, if it is the same and this can be told at a
  /// glance: a position that is not further along an axis than another is in no further cell, in
  /// floating-point numbers, too.
  template <int order>
  std::optional<LocalIndex> only(const PositionBounds& bounds) const {
    LocalIndex tile = 0;
    for (int a = 0; a < 3; ++a) {
      const MeshAxis& axis = cells_.axis[a];
      const AxisPosition lowest = position_on<order>(axis, bounds.lo[a]);
      const AxisPosition highest = position_on<order>(axis, bounds.hi[a]);
      const Index first = counting_cell<order>(lowest) - axis.first;
      const Index last = counting_cell<order>(highest) - axis.first;
      // As far apart as positions are computed, which for huge coordinates is not as far as they
      // are.
      const double extent = (bounds.hi[a] - axis.lo) - (bounds.lo[a] - axis.lo);
      const bool goes_around = !(extent <= 0.5 * axis.length) || first > last;
      if (goes_around || lowest.first < axis.first || last >= axis.num_own) return {};
      const LocalIndex of_lowest = axis_[a].of_cell[static_cast<std::size_t>(first)];
      if (axis_[a].of_cell[static_cast<std::size_t>(last)] != of_lowest) return {};
      tile += of_lowest;
    }
    return tile;
  }

  /// The tiles of all particles; `tile` is as add_numbers() wants it.
  template <int order>
  void find(const AssignmentBlock& block, LocalIndex* tile) const {
    if (!block.has_odd) {
      CellNumbers numbers;
      numbers.nearest = may_be_one_more(order);
      for (int a = 0; a < 3; ++a) {
        numbers.of[a] = axis_[a].of_cell.data();
        numbers.first[a] = static_cast<std::int32_t>(cells_.axis[a].first);
        numbers.last[a] =
            static_cast<std::int32_t>(cells_.axis[a].first + cells_.axis[a].num_own - 1);
      }
      return add_numbers(block, numbers, tile);
    }
    std::fill_n(tile, block.num, LocalIndex{0});
    for (int a = 0; a < 3; ++a) {
      const LocalIndex* const of_cell = axis_[a].of_cell.data();
      const Index first = cells_.axis[a].first;
      for (int at = 0; at < block.num; ++at) {
        const Index cell = block.is_odd[at] ? first_cell<order>(cells_.axis[a], block.pos[a][at])
                                            : Index{block.first[a][at]};
        tile[at] += of_cell[cell - first];
      }
    }
  }

 private:
  /// See CellNumbers::nearest.
  template <int order>
  static Index counting_cell(const AxisPosition& position) {
    return position.first + (may_be_one_more(order) && position.behind >= 0.5 ? 1 : 0);
  }

  MeshCells cells_;
  AxisTiles axis_[3];
};

/// Runs in the order of rows, as they are found: five bytes each, since a run begins where the one
/// before ends. In blocks, so that as much memory is taken as there are runs.
class FoundRuns {
 public:
  static constexpr Index run_bytes = sizeof(LocalIndex) + 1;

  FoundRuns(const Host& exec, Index max_rows)
      : exec_(exec), block_size_(std::min(max_rows, Index{1} << 14)) {}

  void add(LocalIndex tile, Index count) {
    for (; count > 0; count -= Run::max_count) {
      if (blocks_.empty() || blocks_.back().num == block_size_) add_block();
      Block& block = blocks_.back();
      block.tile.data()[block.num] = tile;
      block.more.data()[block.num] = static_cast<std::uint8_t>(std::min(count, Run::max_count) - 1);
      ++block.num;
    }
  }

  /// visit(tile, run) in order; the first run begins at row `first`.
  template <class Visit>
  void for_each(Index first, const Visit& visit) const {
    auto row = static_cast<std::uint32_t>(first);
    for (const Block& block : blocks_) {
      const LocalIndex* const tile = block.tile.data();
      const std::uint8_t* const more = block.more.data();
      for (Index i = 0; i < block.num; ++i) {
        visit(tile[i], Run{row, more[i]});
        row += std::uint32_t{more[i]} + 1;
      }
    }
  }

 private:
  struct Block {
    Buffer<LocalIndex> tile;
    Buffer<std::uint8_t> more;
    Index num = 0;
  };
  void add_block() {
    constexpr const char* purpose = "runs of particles";
    blocks_.push_back({Buffer<LocalIndex>(exec_, block_size_, purpose),
                       Buffer<std::uint8_t>(exec_, block_size_, purpose)});
  }

  const Host& exec_;
  Index block_size_;
  std::vector<Block> blocks_;
};

/// The runs of rows [first, last).
template <int order, class Real>
void find_runs(const Tiles& tiles, const PaintedRows<Real>& rows, Index first, Index last,
               FoundRuns& found) {
  AssignmentBlock block;
  alignas(64) LocalIndex tile[AssignmentBlock::size];
  LocalIndex now = 0;
  Index count = 0;
  const auto go_on = [&](LocalIndex next, Index num) {
    if (next != now) {
      found.add(now, count);
      now = next;
      count = 0;
    }
    count += num;
  };
  for (Index begin = first; begin < last; begin += AssignmentBlock::size) {
    const Index num = std::min<Index>(last - begin, AssignmentBlock::size);
    if (const std::optional<LocalIndex> only = tiles.only<order>(rows.bounds(begin, num))) {
      go_on(*only, num);
      continue;
    }
    rows.put_positions(begin, last, block);
    locate_assignments(tiles.cells(), block);
    tiles.find<order>(block, tile);
    for (int at = 0; at < block.num; ++at) go_on(tile[at], 1);
  }
  found.add(now, count);
}

/// Where things go that tasks bring to tiles: those of a tile follow each other, task by task.
class TileIndices {
 public:
  static constexpr auto bytes_per_tile = static_cast<Index>(sizeof(LocalIndex) + sizeof(Index));

  TileIndices(Index num_tasks, Index num_tiles)
      : num_tiles_(num_tiles), of_tasks_(static_cast<std::size_t>(num_tasks * num_tiles)) {}

  /// By tile: how many the task brings; after sum_up() the index of its next one.
  LocalIndex* of_task(Index task) { return of_tasks_.data() + task * num_tiles_; }

  void sum_up() {
    const auto num_tiles = static_cast<std::size_t>(num_tiles_);
    begin_.reserve(num_tiles + 1);
    LocalIndex next = 0;
    for (std::size_t tile = 0; tile < num_tiles; ++tile) {
      begin_.push_back(Index{next});
      for (std::size_t at = tile; at < of_tasks_.size(); at += num_tiles) {
        const LocalIndex count = of_tasks_[at];
        of_tasks_[at] = next;
        next += count;
      }
    }
    begin_.push_back(Index{next});
  }

  /// When all are brought: only where tiles begin is asked for after that.
  void forget_tasks() { of_tasks_ = {}; }

  /// Of all things of a tile, which end where those of the next begin.
  Index begin_of(Index tile) const { return begin_[static_cast<std::size_t>(tile)]; }
  Index size() const { return begin_.back(); }

 private:
  Index num_tiles_;
  std::vector<LocalIndex> of_tasks_;
  std::vector<Index> begin_;
};

/// Runs of some rows, by tile.
class TileRuns {
 public:
  template <int order, class Real>
  static TileRuns sorted(const Host& exec, const Tiles& tiles, const PaintedRows<Real>& rows) {
    const Index num_tasks = std::clamp<Index>(rows.num / host_block, 1, threads_of(exec));
    TileRuns runs(num_tasks, tiles.size());
    const auto first_of = [&](Index task) { return task * rows.num / num_tasks; };
    std::vector<FoundRuns> found;
    found.reserve(static_cast<std::size_t>(num_tasks));
    for (Index task = 0; task < num_tasks; ++task)
      found.emplace_back(exec, first_of(task + 1) - first_of(task));
    const auto for_each_run = [&](Index task, const auto& visit) {
      LocalIndex* const of_task = runs.indices_.of_task(task);
      found[static_cast<std::size_t>(task)].for_each(
          first_of(task), [&](LocalIndex tile, const Run& run) { visit(of_task[tile], run); });
    };
    run_tasks(exec, num_tasks, [&](Index task) {
      find_runs<order>(tiles, rows, first_of(task), first_of(task + 1),
                       found[static_cast<std::size_t>(task)]);
      for_each_run(task, [](LocalIndex& count, const Run&) { ++count; });
    });
    runs.indices_.sum_up();
    runs.runs_ = Buffer<Run>(exec, runs.indices_.size(), "runs of particles by tile");
    Run* const to = runs.runs_.data();
    run_tasks(exec, num_tasks, [&](Index task) {
      for_each_run(task, [&](LocalIndex& next, const Run& run) { to[next++] = run; });
    });
    runs.indices_.forget_tasks();
    return runs;
  }

  Span<const Run> of(Index tile) const {
    return runs_.span().subspan(indices_.begin_of(tile),
                                indices_.begin_of(tile + 1) - indices_.begin_of(tile));
  }
  Index num_rows(Index tile) const {
    Index num = 0;
    for (const Run& run : of(tile)) num += run.last() + 1 - run.first();
    return num;
  }

 private:
  TileRuns(Index num_tasks, Index num_tiles) : indices_(num_tasks, num_tiles) {}

  TileIndices indices_;
  Buffer<Run> runs_;
};

}  // namespace zhalo::kernels
