#include "apps/plot/canvas.hpp"

#include <fmt/format.h>
#include <cmath>
#include <numbers>

#include "zhalo/core/error.hpp"

namespace zhalo::app {
namespace {

void check(cairo_status_t status) {
  if (status != CAIRO_STATUS_SUCCESS)
    throw Error(fmt::format("cairo cannot draw the picture: {}", cairo_status_to_string(status)));
}

cairo_status_t append(void* to, const unsigned char* data, unsigned length) {
  static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(data), length);
  return CAIRO_STATUS_SUCCESS;
}

}  // namespace

Canvas::Canvas(Point extent, double pixel)
    : pixel_(pixel),
      surface_(cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(extent.x / pixel),
                                          static_cast<int>(extent.y / pixel)),
               cairo_surface_destroy),
      cairo_(cairo_create(surface_.get()), cairo_destroy) {
  check(cairo_status(cairo_.get()));
  cairo_set_source_rgb(cairo_.get(), 1, 1, 1);
  cairo_paint(cairo_.get());
  cairo_scale(cairo_.get(), 1 / pixel, 1 / pixel);
  cairo_set_line_join(cairo_.get(), CAIRO_LINE_JOIN_MITER);
}

void Canvas::use(const Ink& ink) {
  cairo_set_source_rgba(cairo_.get(), ink.colour[0], ink.colour[1], ink.colour[2], ink.opacity);
}

void Canvas::select(const TextStyle& style) const {
  const auto weight = style.bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL;
  cairo_select_font_face(cairo_.get(), "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL, weight);
  cairo_set_font_size(cairo_.get(), style.size);
}

double Canvas::text_width(const std::string& text, const TextStyle& style) const {
  cairo_text_extents_t extents;
  select(style);
  cairo_text_extents(cairo_.get(), text.c_str(), &extents);
  return extents.x_advance;
}

void Canvas::text(const std::string& text, Point at, const TextStyle& style) {
  const double shift = style.across * text_width(text, style);
  use(style.ink);
  cairo_save(cairo_.get());
  cairo_translate(cairo_.get(), at.x, at.y);
  if (style.upwards) cairo_rotate(cairo_.get(), -std::numbers::pi / 2);
  cairo_move_to(cairo_.get(), -shift, 0);
  cairo_show_text(cairo_.get(), text.c_str());
  cairo_restore(cairo_.get());
}

void Canvas::line(Point from, Point to, double width, const Ink& ink) {
  use(ink);
  cairo_set_line_width(cairo_.get(), width);
  cairo_move_to(cairo_.get(), from.x, from.y);
  cairo_line_to(cairo_.get(), to.x, to.y);
  cairo_stroke(cairo_.get());
}

void Canvas::fill(const std::vector<Point>& polygon, const Ink& ink) {
  use(ink);
  for (const Point& corner : polygon) cairo_line_to(cairo_.get(), corner.x, corner.y);
  cairo_close_path(cairo_.get());
  cairo_fill(cairo_.get());
}

void Canvas::fill(const Area& area, const Ink& ink) {
  use(ink);
  cairo_rectangle(cairo_.get(), area.x, area.y, area.width, area.height);
  cairo_fill(cairo_.get());
}

void Canvas::frame(const Area& area, double width, const Ink& ink) {
  use(ink);
  cairo_set_line_width(cairo_.get(), width);
  cairo_rectangle(cairo_.get(), area.x, area.y, area.width, area.height);
  cairo_stroke(cairo_.get());
}

void Canvas::circle(Point centre, double radius, double width, const Ink& ink) {
  use(ink);
  cairo_set_line_width(cairo_.get(), width);
  cairo_new_sub_path(cairo_.get());
  cairo_arc(cairo_.get(), centre.x, centre.y, radius, 0, 2 * std::numbers::pi);
  cairo_stroke(cairo_.get());
}

void Canvas::image(std::vector<std::uint32_t>& pixels, int width, int height, Point corner) {
  auto* data = reinterpret_cast<unsigned char*>(pixels.data());
  const Surface picture(
      cairo_image_surface_create_for_data(data, CAIRO_FORMAT_RGB24, width, height, 4 * width),
      cairo_surface_destroy);
  check(cairo_surface_status(picture.get()));
  cairo_save(cairo_.get());
  cairo_identity_matrix(cairo_.get());
  cairo_set_source_surface(cairo_.get(), picture.get(), std::round(corner.x / pixel_),
                           std::round(corner.y / pixel_));
  cairo_paint(cairo_.get());
  cairo_restore(cairo_.get());  // also lets go of the pixels
}

void Canvas::ramp(const Area& area) {
  const auto width = static_cast<int>(std::lround(area.width / pixel_)),
             height = static_cast<int>(std::lround(area.height / pixel_));
  std::vector<std::uint32_t> pixels;
  for (int row = 0; row < height; ++row)
    pixels.insert(pixels.end(), static_cast<std::size_t>(width),
                  packed(map_colour(1 - (row + 0.5) / height)));
  image(pixels, width, height, {area.x, area.y});
}

void Canvas::clip(const Area& area) {
  cairo_save(cairo_.get());
  cairo_rectangle(cairo_.get(), area.x, area.y, area.width, area.height);
  cairo_clip(cairo_.get());
}

void Canvas::release() { cairo_restore(cairo_.get()); }

std::string Canvas::png() {
  check(cairo_status(cairo_.get()));
  std::string bytes;
  check(cairo_surface_write_to_png_stream(surface_.get(), append, &bytes));
  return bytes;
}

}  // namespace zhalo::app
