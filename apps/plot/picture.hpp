/// A map of a field in two dimensions, with axes, colours and circles, as PNG.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "zhalo/core/types.hpp"

namespace zhalo::app {

/// Centre and radius in the coordinates of the axes.
struct Circle {
  std::array<double, 2> centre{};
  double radius = 0;
};

/// The first axis goes to the right, the second upwards; both are periodic.
struct Picture {
  std::array<Index, 2> num{};  ///< cells
  std::vector<double> values;  ///< [i * num[1] + j], shown on a logarithmic scale
  std::array<double, 2> lo{};
  std::array<double, 2> length{};
  std::array<std::string, 2> axes;  ///< "x", "y"
  std::string unit;                 ///< of the axes
  std::string quantity;             ///< what the colours mean
  std::string title;
  std::string subtitle;
  std::vector<Circle> circles;
  int longer_side = 1000;  ///< of the map, in pixels; all else has its share
};

/// Whether this build can draw; if not, draw_png() throws InputError.
bool can_draw();

/// The bytes of the file.
std::string draw_png(const Picture& picture);

}  // namespace zhalo::app
