#include "zhalo/fft/decomposition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/core/validate.hpp"
#include "zhalo/comm/communicator.hpp"

namespace zhalo {
namespace {

constexpr Index max_cells = Index{1} << 62;

void validate_grid(const Grid& grid) {
  for (int axis = 0; axis < 3; ++axis)
    validate(grid.num[axis] >= 1, "the grid has {} cells along {} (must be at least 1)",
             grid.num[axis], "xyz"[axis]);
  validate(grid.num[0] <= max_cells / grid.num[1] / grid.num[2],
           "a grid of {} x {} x {} cells cannot be counted in 62 bits", grid.num[0], grid.num[1],
           grid.num[2]);
}

/// InputError unless the index is one of `num` along each axis. It is that of a `what`.
void validate_index(const GridIndex& index, const GridIndex& num, const char* what) {
  validate(IndexBox{{}, num}.contains(index),
           "{0} ({1}, {2}, {3}) is not among the {4} x {5} x {6} {0}s of the grid (along each axis "
           "they count from 0)",
           what, index[0], index[1], index[2], num[0], num[1], num[2]);
}

/// The part of [0, total) that is `part`'s of `parts`.
void set_share(IndexBox& index_box, int axis, Index total, int part, int parts) {
  const Share share = share_of(total, part, parts);
  index_box.lo[axis] = share.first;
  index_box.hi[axis] = share.first + share.count;
}

double longest_share(Index total, int parts) {
  return static_cast<double>(share_of(total, 0, parts).count);
}

std::array<int, 2> best_shape(const Grid& grid, int num_ranks, Split split) {
  std::array<int, 2> best = {num_ranks, 1};
  double min_seconds = split == Split::pencil ? std::numeric_limits<double>::infinity()
                                              : modelled_seconds(grid, best);
  for (int columns = 2; columns <= num_ranks && split != Split::slab; ++columns) {
    if (num_ranks % columns != 0 || (split == Split::pencil && columns == num_ranks)) continue;
    const std::array<int, 2> shape = {num_ranks / columns, columns};
    const double seconds = modelled_seconds(grid, shape);
    if (seconds < min_seconds) {
      best = shape;
      min_seconds = seconds;
    }
  }
  return best;
}

}  // namespace

double modelled_seconds(const Grid& grid, const std::array<int, 2>& shape) {
  constexpr double seconds_per_element = 5e-9;
  constexpr double seconds_per_byte = 1 / 2e9;
  constexpr double seconds_per_message = 5e-6;
  constexpr double bytes_per_mode = 16;
  const Index num_z = grid.num[2] / 2 + 1;
  const double x = longest_share(grid.num[0], shape[0]);
  const double y_of_cells = longest_share(grid.num[1], shape[1]);
  const double z = longest_share(num_z, shape[1]);
  const auto sent_share = [](int parts) { return static_cast<double>(parts - 1) / parts; };
  const double rows = x * y_of_cells * static_cast<double>(num_z);
  const double pencils = x * static_cast<double>(grid.num[1]) * z;
  const double modes = longest_share(grid.num[1], shape[0]) * static_cast<double>(grid.num[0]) * z;
  const double elements = 2 * std::max({rows, pencils, modes});
  const double bytes =
      bytes_per_mode * (rows * sent_share(shape[1]) + pencils * sent_share(shape[0]));
  const double messages = shape[0] + shape[1] - 2;
  return elements * seconds_per_element + bytes * seconds_per_byte + messages * seconds_per_message;
}

Decomposition::Decomposition(const Grid& grid, int num_ranks, const DecompositionOptions& options)
    : grid_(grid) {
  validate_grid(grid);
  validate(num_ranks >= 1, "a grid is to be divided among {} ranks (must be at least 1)",
           num_ranks);
  validate_enumerator(options.split, Split::pencil, "DecompositionOptions::split");
  const auto [rows, columns] = options.shape;
  if (rows == 0 && columns == 0) {
    shape_ = best_shape(grid, num_ranks, options.split);
    return;
  }
  validate(rows >= 1 && columns >= 1 && Index{rows} * columns == num_ranks,
           "the shape of the decomposition is {} x {} (must be two numbers whose product is the {} "
           "ranks)",
           rows, columns, num_ranks);
  shape_ = options.shape;
}

GridIndex Decomposition::num_modes(Spectrum spectrum) const {
  validate_enumerator(spectrum, Spectrum::full, "the spectrum");
  GridIndex num = grid_.num;
  if (spectrum == Spectrum::half) num[2] = num[2] / 2 + 1;
  return num;
}

IndexBox Decomposition::cells(int rank) const {
  IndexBox index_box = grid_.index_box();
  set_share(index_box, 0, grid_.num[0], row_of(rank), shape_[0]);
  set_share(index_box, 1, grid_.num[1], column_of(rank), shape_[1]);
  return index_box;
}

IndexBox Decomposition::modes(int rank, Spectrum spectrum, ModeOrder order) const {
  validate_enumerator(order, ModeOrder::natural, "the order of modes");
  const GridIndex num = num_modes(spectrum);
  IndexBox index_box{{}, num};
  const int by_row = order == ModeOrder::natural ? 0 : 1;
  set_share(index_box, by_row, num[by_row], row_of(rank), shape_[0]);
  set_share(index_box, 2, num[2], column_of(rank), shape_[1]);
  return index_box;
}

BoxLayout Decomposition::modes_layout(int rank, Spectrum spectrum, ModeOrder order) const {
  const bool in_order = order == ModeOrder::natural || shape_[0] == 1;
  return layout_of(modes(rank, spectrum, order), in_order ? natural_order : AxisOrder{1, 0, 2});
}

int Decomposition::owner_of_cell(const GridIndex& cell) const {
  validate_index(cell, grid_.num, "cell");
  return rank_at(zhalo::owner_of(cell[0], grid_.num[0], shape_[0]),
                 zhalo::owner_of(cell[1], grid_.num[1], shape_[1]));
}

int Decomposition::owner_of_mode(const GridIndex& mode, Spectrum spectrum, ModeOrder order) const {
  validate_enumerator(order, ModeOrder::natural, "the order of modes");
  const GridIndex num = num_modes(spectrum);
  validate_index(mode, num, "mode");
  const int by_row = order == ModeOrder::natural ? 0 : 1;
  return rank_at(zhalo::owner_of(mode[by_row], num[by_row], shape_[0]),
                 zhalo::owner_of(mode[2], num[2], shape_[1]));
}

GridIndex Decomposition::cell_of(const Vec3d& position) const {
  GridIndex cell;
  for (int axis = 0; axis < 3; ++axis) {
    validate(std::isfinite(position[axis]), "a position is {} along {}, which is in no cell",
             position[axis], "xyz"[axis]);
    const auto num = static_cast<double>(grid_.num[axis]);
    const double cells =
        std::floor((position[axis] - grid_.box.lo[axis]) / grid_.box.length[axis] * num);
    const double wrapped = grid_.box.periodic[axis] ? cells - num * std::floor(cells / num) : cells;
    const double length = grid_.box.length[axis];
    validate(std::isfinite(length) && length > 0 && !std::isnan(wrapped),
             "a position is {} along {}, where the box has corner {} and length {}: it is in no "
             "cell (give the box that the mesh fills)",
             position[axis], "xyz"[axis], grid_.box.lo[axis], length);
    cell[axis] = static_cast<Index>(std::clamp(wrapped, 0.0, num - 1));
  }
  return cell;
}

std::string Decomposition::describe() const {
  return fmt::format("{} {} x {} of {} x {} x {}", shape_[1] == 1 ? "slab" : "pencil", shape_[0],
                     shape_[1], grid_.num[0], grid_.num[1], grid_.num[2]);
}

}  // namespace zhalo
