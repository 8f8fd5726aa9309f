/// Drawing with cairo, the colour map, and the ticks of axes.
#pragma once

#include <cairo.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace zhalo::app {

/// Red, green and blue of sRGB, each 0 to 1.
using Colour = std::array<double, 3>;

/// From dark violet (0) over red and orange to pale yellow (1). The lightness rises evenly from
/// 0.13 to 0.97 in Oklab, the hue turns evenly, and the chroma is as large as a screen can show, up
/// to a smooth limit.
Colour map_colour(double t);

/// 0xffRRGGBB.
std::uint32_t packed(const Colour& colour);

/// From the upper left corner of the sheet, in its units.
struct Point {
  double x = 0;
  double y = 0;
};

struct Area {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
};

struct Ink {
  Colour colour{};
  double opacity = 1;
};

/// How a text stands at its point: 0 begins there, 0.5 is centred, 1 ends there.
struct TextStyle {
  double size = 22;
  double across = 0;
  bool upwards = false;  ///< read from below
  bool bold = false;
  Ink ink{};
};

/// A white sheet. Throws Error if cairo fails.
class Canvas {
 public:
  /// `pixel`: its side in units of the sheet.
  Canvas(Point extent, double pixel);

  double text_width(const std::string& text, const TextStyle& style) const;
  /// The text's baseline, or for texts that are read from below its left edge, goes through the
  /// point.
  void text(const std::string& text, Point at, const TextStyle& style);
  void line(Point from, Point to, double width, const Ink& ink);
  void fill(const std::vector<Point>& polygon, const Ink& ink);
  void fill(const Area& area, const Ink& ink);
  void frame(const Area& area, double width, const Ink& ink);
  void circle(Point centre, double radius, double width, const Ink& ink);
  /// `pixels` are 0xffRRGGBB, rows from the top, and become pixels of the sheet.
  void image(std::vector<std::uint32_t>& pixels, int width, int height, Point corner);
  /// The colours of the map, from 0 at the bottom to 1.
  void ramp(const Area& area);
  /// Until release() only what is within the area is drawn.
  void clip(const Area& area);
  void release();

  std::string png();

 private:
  void use(const Ink& ink);
  void select(const TextStyle& style) const;

  double pixel_;
  using Surface = std::unique_ptr<cairo_surface_t, decltype(&cairo_surface_destroy)>;
  Surface surface_;
  std::unique_ptr<cairo_t, decltype(&cairo_destroy)> cairo_;
};

/// The largest of 1, 2 or 5 times a power of ten that is not more than `value`, which is positive.
double round_down(double value);

/// Multiples of a round step within [lo, hi], about `wanted` of them.
std::vector<double> linear_ticks(double lo, double hi, int wanted);

/// Within [lo, hi]: 1, 2 and 5 times powers of ten; of ranges over three decades only powers of
/// ten.
std::vector<double> logarithmic_ticks(double lo, double hi);

/// Within [lo, hi]: 1, 2, ..., 9 times powers of ten.
std::vector<double> minor_ticks(double lo, double hi);

/// "0.2", "15", "10000".
std::string tick_text(double value);

}  // namespace zhalo::app
