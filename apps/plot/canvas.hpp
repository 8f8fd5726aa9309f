/// Drawing with cairo: what pictures need of it.
#pragma once

#include <cairo.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "apps/plot/colour_map.hpp"

namespace zhalo::app {

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

}  // namespace zhalo::app
