#include "apps/density/projection.hpp"

#include <algorithm>
#include <cmath>

#include "apps/cli/on_host.hpp"

namespace zhalo::density_app {
namespace {

/// Which part of each cell along the axis is in the periodic layer [from, from + depth).
std::vector<double> shares_in_layer(const Grid& grid, const View& view, double depth) {
  const double side = grid.box.length[view.axis], spacing = grid.spacing(view.axis);
  const double begin = view.from - grid.box.lo[view.axis];
  const double from = begin - side * std::floor(begin / side);
  std::vector<double> shares(static_cast<std::size_t>(grid.num[view.axis]));
  for (std::size_t cell = 0; cell < shares.size(); ++cell) {
    const double lo = static_cast<double>(cell) * spacing, hi = lo + spacing;
    for (const double image : {0.0, side})
      shares[cell] +=
          std::max(0.0, std::min(hi + image, from + depth) - std::max(lo + image, from)) / spacing;
  }
  return shares;
}

/// A power of two by which the sum of a line of cells stays below 2^61.
double quanta_per_unit(const Context& context, Span<const float> cells, Index line) {
  double most = 0;
  for (const float cell : cells) most = std::max(most, std::abs(static_cast<double>(cell)));
  const double sum = std::max(context.comm.max(most), 1.0) * static_cast<double>(line);
  return std::exp2(std::floor(61 - std::log2(sum)));
}

}  // namespace

std::array<int, 2> map_axes(int axis) {
  if (axis == 0) return {1, 2};
  if (axis == 1) return {0, 2};
  return {0, 1};
}

std::vector<double> project(const Context& context, const Field<float>& field, const View& view,
                            double depth) {
  const Grid& grid = field.decomposition().grid();
  const app::OnHost<float> host(context.exec, field.span());
  const Span<const float> cells = host.view();
  const std::vector<double> shares = shares_in_layer(grid, view, depth);
  const double quanta = quanta_per_unit(context, cells, grid.num[view.axis]);
  const auto [right, up] = map_axes(view.axis);
  std::vector<Index> sums(static_cast<std::size_t>(grid.num[right] * grid.num[up]));
  const IndexBox& mine = field.cells();
  for (Index x = mine.lo[0]; x < mine.hi[0]; ++x) {
    for (Index y = mine.lo[1]; y < mine.hi[1]; ++y) {
      for (GridIndex cell{{x, y, mine.lo[2]}}; cell[2] < mine.hi[2]; ++cell[2]) {
        const double value =
            cells[field.layout().offset(cell)] * shares[static_cast<std::size_t>(cell[view.axis])];
        sums[static_cast<std::size_t>(cell[right] * grid.num[up] + cell[up])] +=
            std::llround(value * quanta);
      }
    }
  }
  context.comm.sum_in_place(sums);
  const double thickness = depth / grid.spacing(view.axis);
  std::vector<double> means(sums.size());
  std::transform(sums.begin(), sums.end(), means.begin(),
                 [&](Index sum) { return static_cast<double>(sum) / quanta / thickness; });
  return means;
}

}  // namespace zhalo::density_app
