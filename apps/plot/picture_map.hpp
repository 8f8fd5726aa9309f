/// Where a picture's map is on the sheet, and what is drawn onto it.
#pragma once

#include <algorithm>
#include <cmath>

#include "apps/plot/canvas.hpp"
#include "apps/plot/picture.hpp"

namespace zhalo::app {

/// Of the map, in the units of the sheet, which are pixels if the map is to be as large.
inline constexpr double longer_side = 1000;
inline constexpr double left = 104, above = 96, below = 92, right = 172;
inline constexpr Ink black{{0.1, 0.1, 0.1}};

/// The map, and what is in it, in units of the sheet.
struct Map {
  Area area;
  double scale = 1;  ///< units of the sheet per length
  const Picture* picture = nullptr;

  explicit Map(const Picture& shown) : picture(&shown) {
    scale = longer_side / std::max(shown.length[0], shown.length[1]);
    // Neither of a very long box is to vanish.
    const auto side = [&](int axis) {
      return std::max(std::round(scale * shown.length[static_cast<std::size_t>(axis)]), 60.0);
    };
    area = {left, above, side(0), side(1)};
  }
  double x(double value) const {
    return area.x + area.width * (value - picture->lo[0]) / picture->length[0];
  }
  double y(double value) const {
    return area.y + area.height * (1 - (value - picture->lo[1]) / picture->length[1]);
  }
  double bottom() const { return area.y + area.height; }
};

/// With the images of those that cross an edge. Small ones become large enough to be seen.
void draw_circles(Canvas& canvas, const Map& map);

/// Of a round length, about a fifth of the map.
void draw_scale_bar(Canvas& canvas, const Map& map);

}  // namespace zhalo::app
