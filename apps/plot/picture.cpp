#include "apps/plot/picture.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "apps/plot/canvas.hpp"

namespace zhalo::app {
namespace {

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

/// Linear between the centres of cells where pixels are smaller, a weighted mean of cells where
/// they are larger.
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

/// All but a few of the positive values.
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
  const auto [smallest, largest] = std::minmax_element(pixels.values.begin(), pixels.values.end());
  range.values_below = *smallest < range.lo;
  range.values_above = *largest > range.hi;
  return range;
}

/// Position of a value on the logarithmic scale, 0 to 1.
double fraction_of_scale(double value, const ColourRange& range) {
  if (!(value > range.lo)) return 0;
  return std::min(std::log(value / range.lo) / std::log(range.hi / range.lo), 1.0);
}

/// 0xffRRGGBB of each pixel.
std::vector<std::uint32_t> colours_of(const Pixels& pixels, const ColourRange& range) {
  constexpr std::size_t steps = 255;
  std::vector<std::uint32_t> table(steps + 1);
  for (std::size_t i = 0; i <= steps; ++i)
    table[i] = packed(map_colour(static_cast<double>(i) / steps));
  std::vector<std::uint32_t> colours;
  colours.reserve(pixels.values.size());
  for (const double value : pixels.values)
    colours.push_back(
        table[static_cast<std::size_t>(std::lround(steps * fraction_of_scale(value, range)))]);
  return colours;
}

/// Of the map, in the units of the sheet, which are pixels if the map is to be as large.
constexpr double longer_side = 1000;
constexpr double left = 104, above = 96, below = 92, right = 172;
constexpr Ink black{{0.1, 0.1, 0.1}};
constexpr Ink grey{{0.35, 0.35, 0.35}};
constexpr Ink white{{1, 1, 1}};
constexpr Ink of_circles{{0.56, 0.93, 1.0}, 0.75};
constexpr double bar_gap = 28, bar_width = 28;

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

/// Of a round length, about a fifth of the map.
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

/// With the images of those that cross an edge. Small ones become large enough to be seen.
void draw_circles(Canvas& canvas, const Map& map) {
  const Picture& picture = *map.picture;
  canvas.clip(map.area);
  for (const Circle& circle : picture.circles) {
    const double radius = std::max(circle.radius * map.scale, 4.0);
    // An arc that is a line, or nowhere to be seen, and takes cairo for ever.
    if (!(radius < 100 * std::max(map.area.width, map.area.height))) continue;
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
    const double y = bottom - scale.height * fraction_of_scale(value, range);
    canvas.line({end, y}, {end + 5, y}, 1, black);
  }
  double widest = 0;
  for (const double value : logarithmic_ticks(range.lo, range.hi)) {
    const double y = bottom - scale.height * fraction_of_scale(value, range);
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
