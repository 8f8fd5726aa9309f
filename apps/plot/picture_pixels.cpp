#include "apps/plot/picture_pixels.hpp"

#include <algorithm>
#include <cmath>

#include "apps/plot/colour_map.hpp"

namespace zhalo::app {
namespace {

struct Weight {
  std::size_t cell = 0;
  double weight = 0;
};

/// For each of `pixels` the cells that it shows: a tent over its centre, as wide as the larger of a
/// cell and a pixel to either side.
std::vector<std::vector<Weight>> weights_of(Index cells, int pixels) {
  const double cells_per_pixel = static_cast<double>(cells) / pixels;
  const double reach = std::max(1.0, cells_per_pixel);
  std::vector<std::vector<Weight>> all(static_cast<std::size_t>(pixels));
  for (int pixel = 0; pixel < pixels; ++pixel) {
    const double centre = (pixel + 0.5) * cells_per_pixel - 0.5;
    double sum = 0;
    auto& weights = all[static_cast<std::size_t>(pixel)];
    for (auto cell = static_cast<Index>(std::ceil(centre - reach));
         static_cast<double>(cell) <= centre + reach; ++cell) {
      const double weight = 1 - std::abs(static_cast<double>(cell) - centre) / reach;
      weights.push_back({static_cast<std::size_t>((cell % cells + cells) % cells), weight});
      sum += weight;
    }
    for (Weight& weight : weights) weight.weight /= sum;
  }
  return all;
}

/// The value that a share of the sorted values is below.
double quantile(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

}  // namespace

Pixels resample(const Picture& picture, int width, int height) {
  const auto columns = weights_of(picture.num[0], width);
  const auto rows = weights_of(picture.num[1], height);
  const auto num_y = static_cast<std::size_t>(picture.num[1]);
  Pixels pixels{width, height, std::vector<double>(columns.size() * rows.size())};
  std::vector<double> line(num_y);
  for (std::size_t column = 0; column < columns.size(); ++column) {
    std::fill(line.begin(), line.end(), 0);
    for (const Weight& x : columns[column]) {
      for (std::size_t j = 0; j < num_y; ++j)
        line[j] += x.weight * picture.values[x.cell * num_y + j];
    }
    for (std::size_t row = 0; row < rows.size(); ++row) {
      double& value = pixels.values[(rows.size() - 1 - row) * columns.size() + column];
      for (const Weight& y : rows[row]) value += y.weight * line[y.cell];
    }
  }
  return pixels;
}

ColourRange colour_range(const Pixels& pixels) {
  std::vector<double> sorted;
  std::copy_if(pixels.values.begin(), pixels.values.end(), std::back_inserter(sorted),
               [](double v) { return v > 0; });
  if (sorted.empty()) return {1, 10};
  std::sort(sorted.begin(), sorted.end());
  ColourRange range;
  range.hi = quantile(sorted, 0.9995);
  range.lo = std::max(quantile(sorted, 0.002), 1e-3 * range.hi);
  if (range.hi < 1.5 * range.lo) range = {range.lo / 2, range.hi * 2};
  const auto [least, most] = std::minmax_element(pixels.values.begin(), pixels.values.end());
  range.values_below = *least < range.lo;
  range.values_above = *most > range.hi;
  return range;
}

double place_on_scale(double value, const ColourRange& range) {
  if (!(value > range.lo)) return 0;
  return std::min(std::log(value / range.lo) / std::log(range.hi / range.lo), 1.0);
}

std::vector<std::uint32_t> colours_of(const Pixels& pixels, const ColourRange& range) {
  constexpr std::size_t steps = 255;
  std::vector<std::uint32_t> table(steps + 1);
  for (std::size_t i = 0; i <= steps; ++i)
    table[i] = packed(map_colour(static_cast<double>(i) / steps));
  std::vector<std::uint32_t> colours;
  colours.reserve(pixels.values.size());
  for (const double value : pixels.values)
    colours.push_back(
        table[static_cast<std::size_t>(std::lround(steps * place_on_scale(value, range)))]);
  return colours;
}

}  // namespace zhalo::app
