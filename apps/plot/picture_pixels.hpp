/// From cells to pixels.
#pragma once

#include <cstdint>

#include "apps/plot/picture.hpp"

namespace zhalo::app {

/// Values that the ends of the colours stand for.
struct ColourRange {
  double lo = 0;
  double hi = 1;
  bool values_below = false;  ///< some pixels are less than lo
  bool values_above = false;  ///< or more than hi
};

/// The picture's cells brought to width x height pixels, rows from the top.
struct Pixels {
  int width = 0;
  int height = 0;
  std::vector<double> values;
};

/// Linear between the centres of cells where pixels are smaller, a weighted mean of cells where
/// they are larger.
Pixels resample(const Picture& picture, int width, int height);

/// All but a few of the positive values.
ColourRange colour_range(const Pixels& pixels);

/// Place of a value on the logarithmic scale, 0 to 1.
double place_on_scale(double value, const ColourRange& range);

/// 0xffRRGGBB of each pixel.
std::vector<std::uint32_t> colours_of(const Pixels& pixels, const ColourRange& range);

}  // namespace zhalo::app
