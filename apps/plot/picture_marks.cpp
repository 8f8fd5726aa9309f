#include "apps/plot/picture_map.hpp"
#include "apps/plot/scale.hpp"

namespace zhalo::app {
namespace {

constexpr Ink white{{1, 1, 1}};
constexpr Ink of_circles{{0.56, 0.93, 1.0}, 0.75};

}  // namespace

void draw_scale_bar(Canvas& canvas, const Map& map) {
  const double length = round_down(0.25 * map.picture->length[0]);
  const double width = map.area.width * length / map.picture->length[0];
  const std::string label = tick_text(length) + " " + map.picture->unit;
  const TextStyle style{.size = 22, .across = 0.5, .ink = white};
  const double plate_width = std::max(width, canvas.text_width(label, style)) + 32;
  const Area plate{map.area.x + 20, map.bottom() - 20 - 62, plate_width, 62};
  canvas.fill(plate, {{0, 0, 0}, 0.55});
  const double middle = plate.x + plate.width / 2, y = plate.y + 45;
  canvas.text(label, {middle, plate.y + 29}, style);
  canvas.line({middle - width / 2, y}, {middle + width / 2, y}, 4, white);
}

void draw_circles(Canvas& canvas, const Map& map) {
  const Picture& picture = *map.picture;
  canvas.clip(map.area);
  for (const Circle& circle : picture.circles) {
    const double radius = std::max(circle.radius * map.scale, 4.0);
    for (const double x : {-1.0, 0.0, 1.0}) {
      for (const double y : {-1.0, 0.0, 1.0}) {
        const Point centre{map.x(circle.centre[0] + x * picture.length[0]),
                           map.y(circle.centre[1] + y * picture.length[1])};
        const bool seen = centre.x > map.area.x - radius &&
                          centre.x < map.area.x + map.area.width + radius &&
                          centre.y > map.area.y - radius && centre.y < map.bottom() + radius;
        if (seen) canvas.circle(centre, radius, 1.6, of_circles);
      }
    }
  }
  canvas.release();
}

}  // namespace zhalo::app
