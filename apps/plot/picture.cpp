#include "apps/plot/picture.hpp"

#include <algorithm>
#include <cmath>

#include "apps/plot/picture_map.hpp"
#include "apps/plot/picture_pixels.hpp"
#include "apps/plot/scale.hpp"

namespace zhalo::app {
namespace {

constexpr Ink grey{{0.35, 0.35, 0.35}};
constexpr double bar_gap = 28, bar_width = 28;

void draw_axes(Canvas& canvas, const Map& map) {
  const Picture& picture = *map.picture;
  constexpr double tick = 9;
  for (const double value : linear_ticks(picture.lo[0], picture.lo[0] + picture.length[0], 6)) {
    canvas.line({map.x(value), map.bottom()}, {map.x(value), map.bottom() + tick}, 1.6, black);
    canvas.text(tick_text(value), {map.x(value), map.bottom() + tick + 24},
                {.across = 0.5, .ink = black});
  }
  for (const double value : linear_ticks(picture.lo[1], picture.lo[1] + picture.length[1], 6)) {
    canvas.line({map.area.x - tick, map.y(value)}, {map.area.x, map.y(value)}, 1.6, black);
    canvas.text(tick_text(value), {map.area.x - tick - 8, map.y(value) + 8},
                {.across = 1, .ink = black});
  }
  const auto label = [&](std::size_t axis) {
    return picture.axes[axis] + "  [" + picture.unit + "]";
  };
  canvas.text(label(0), {map.area.x + map.area.width / 2, map.bottom() + 74},
              {.size = 25, .across = 0.5, .ink = black});
  canvas.text(label(1), {34, map.area.y + map.area.height / 2},
              {.size = 25, .across = 0.5, .upwards = true, .ink = black});
  canvas.frame(map.area, 1.6, black);
}

/// Texts that are too wide become smaller.
void draw_title(Canvas& canvas, const Map& map) {
  const auto fitting = [&](const std::string& text, TextStyle style) {
    const double width = canvas.text_width(text, style);
    const double room = map.area.width + bar_gap + bar_width;
    if (width > room) style.size *= room / width;
    return style;
  };
  const Picture& picture = *map.picture;
  canvas.text(picture.title, {map.area.x, 42},
              fitting(picture.title, {.size = 27, .bold = true, .ink = black}));
  canvas.text(picture.subtitle, {map.area.x, 78},
              fitting(picture.subtitle, {.size = 21, .ink = grey}));
}

void draw_bar(Canvas& canvas, const Map& map, const ColourRange& range) {
  const Area bar{map.area.x + map.area.width + bar_gap, map.area.y, bar_width, map.area.height};
  // Room for the tips, which stand for what is beyond the scale.
  const double tip = 22;
  const Area scale{bar.x, bar.y + tip, bar.width, bar.height - 2 * tip};
  const double bottom = scale.y + scale.height, middle = bar.x + bar.width / 2,
               end = bar.x + bar.width;
  if (range.values_above)
    canvas.fill({{bar.x, scale.y}, {middle, bar.y}, {end, scale.y}}, {map_colour(1)});
  if (range.values_below)
    canvas.fill({{bar.x, bottom}, {middle, bottom + tip}, {end, bottom}}, {map_colour(0)});
  canvas.ramp(scale);
  canvas.frame(scale, 1.2, black);
  for (const double value : minor_ticks(range.lo, range.hi)) {
    const double y = bottom - scale.height * place_on_scale(value, range);
    canvas.line({end, y}, {end + 5, y}, 1, black);
  }
  double widest = 0;
  for (const double value : logarithmic_ticks(range.lo, range.hi)) {
    const double y = bottom - scale.height * place_on_scale(value, range);
    canvas.line({end, y}, {end + 9, y}, 1.6, black);
    canvas.text(tick_text(value), {end + 15, y + 8}, {.ink = black});
    widest = std::max(widest, canvas.text_width(tick_text(value), {}));
  }
  canvas.text(map.picture->quantity, {end + 15 + widest + 34, bar.y + bar.height / 2},
              {.size = 25, .across = 0.5, .upwards = true, .ink = black});
}

}  // namespace

bool can_draw() { return true; }

std::string draw_png(const Picture& picture) {
  const Map map(picture);
  const double pixel = longer_side / picture.longer_side;
  Canvas canvas({left + right + map.area.width, above + below + map.area.height}, pixel);
  const auto width = static_cast<int>(std::lround(map.area.width / pixel));
  const auto height = static_cast<int>(std::lround(map.area.height / pixel));
  const Pixels pixels = resample(picture, width, height);
  const ColourRange range = colour_range(pixels);
  std::vector<std::uint32_t> colours = colours_of(pixels, range);
  canvas.image(colours, width, height, {map.area.x, map.area.y});
  draw_circles(canvas, map);
  draw_scale_bar(canvas, map);
  draw_axes(canvas, map);
  draw_bar(canvas, map, range);
  draw_title(canvas, map);
  return canvas.png();
}

}  // namespace zhalo::app
