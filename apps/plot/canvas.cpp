#include "apps/plot/canvas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include <nlohmann/json.hpp>

#include "zhalo/core/error.hpp"

namespace zhalo::app {
namespace {

/// From Oklab to linear sRGB: B. Ottosson 2020, "A perceptual color space for image processing".
Colour linear_of_oklab(double lightness, double a, double b) {
  const auto cube = [](double x) { return x * x * x; };
  const double l = cube(lightness + 0.3963377774 * a + 0.2158037573 * b);
  const double m = cube(lightness - 0.1055613458 * a - 0.0638541728 * b);
  const double s = cube(lightness - 0.0894841775 * a - 1.2914855480 * b);
  return {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
          -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
          -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
}

/// The transfer curve of sRGB, IEC 61966-2-1.
double encoded(double linear) {
  return linear <= 0.0031308 ? 12.92 * linear : 1.055 * std::pow(linear, 1 / 2.4) - 0.055;
}

bool can_be_shown(const Colour& linear) {
  return std::all_of(linear.begin(), linear.end(),
                     [](double c) { return c >= -1e-6 && c <= 1 + 1e-6; });
}

Colour at(double lightness, double chroma, double hue) {
  return linear_of_oklab(lightness, chroma * std::cos(hue), chroma * std::sin(hue));
}

/// The largest chroma up to `limit` that a screen can show.
double shown_chroma(double lightness, double limit, double hue) {
  if (can_be_shown(at(lightness, limit, hue))) return limit;
  double low = 0, high = limit;
  for (int step = 0; step < 30; ++step) {
    const double middle = (low + high) / 2;
    (can_be_shown(at(lightness, middle, hue)) ? low : high) = middle;
  }
  return low;
}

}  // namespace

Colour map_colour(double t) {
  t = std::clamp(t, 0.0, 1.0);
  const double lightness = 0.13 + 0.84 * t;
  const double hue = (285 + 180 * t) * std::numbers::pi / 180;
  const double limit = 0.045 + 0.155 * std::sin(std::numbers::pi * std::pow(t, 0.9));
  Colour colour = at(lightness, shown_chroma(lightness, limit, hue), hue);
  for (double& channel : colour) channel = std::clamp(encoded(std::max(channel, 0.0)), 0.0, 1.0);
  return colour;
}

std::uint32_t packed(const Colour& colour) {
  std::uint32_t bits = 0xff;
  for (const double channel : colour)
    bits = bits << 8 | static_cast<std::uint32_t>(std::lround(255 * channel));
  return bits;
}

double round_down(double value) {
  const double decade = std::pow(10, std::floor(std::log10(value)));
  for (const double digit : {5.0, 2.0}) {
    if (digit * decade <= value * (1 + 1e-12)) return digit * decade;
  }
  return decade;
}

std::vector<double> linear_ticks(double lo, double hi, int wanted) {
  const double step = round_down((hi - lo) / wanted);
  std::vector<double> ticks;
  const double slack = 1e-9 * step;
  for (auto i = static_cast<long>(std::ceil((lo - slack) / step));
       static_cast<double>(i) * step <= hi + slack; ++i)
    ticks.push_back(static_cast<double>(i) * step);
  return ticks;
}

namespace {

/// Within [lo, hi] these digits times powers of ten.
std::vector<double> times_powers_of_ten(const std::vector<double>& digits, double lo, double hi) {
  std::vector<double> ticks;
  for (double decade = std::floor(std::log10(lo)); decade <= std::log10(hi); ++decade) {
    for (const double digit : digits) {
      const double value = digit * std::pow(10, decade);
      if (value >= lo && value <= hi) ticks.push_back(value);
    }
  }
  return ticks;
}

}  // namespace

std::vector<double> logarithmic_ticks(double lo, double hi) {
  if (hi > 1000 * lo) return times_powers_of_ten({1}, lo, hi);
  return times_powers_of_ten({1, 2, 5}, lo, hi);
}

std::vector<double> minor_ticks(double lo, double hi) {
  return times_powers_of_ten({1, 2, 3, 4, 5, 6, 7, 8, 9}, lo, hi);
}

std::string tick_text(double value) {
  return fmt::format("{:.6g}", std::abs(value) < 1e-12 ? 0 : value);
}

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

namespace {

/// With U+FFFD for what is not UTF-8, which cairo refuses: names of files may hold any bytes.
std::string drawable(const std::string& text) {
  using nlohmann::json;
  const std::string quoted = json(text).dump(-1, ' ', false, json::error_handler_t::replace);
  return json::parse(quoted).get<std::string>();
}

}  // namespace

double Canvas::text_width(const std::string& text, const TextStyle& style) const {
  cairo_text_extents_t extents;
  select(style);
  cairo_text_extents(cairo_.get(), drawable(text).c_str(), &extents);
  return extents.x_advance;
}

void Canvas::text(const std::string& text, Point at, const TextStyle& style) {
  const double shift = style.across * text_width(text, style);
  use(style.ink);
  cairo_save(cairo_.get());
  cairo_translate(cairo_.get(), at.x, at.y);
  if (style.upwards) cairo_rotate(cairo_.get(), -std::numbers::pi / 2);
  cairo_move_to(cairo_.get(), -shift, 0);
  cairo_show_text(cairo_.get(), drawable(text).c_str());
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

namespace {

std::string big_endian(std::uint32_t number) {
  std::string bytes;
  for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(number >> shift & 0xff);
  return bytes;
}

/// Of the PNG specification (ISO/IEC 15948), annex D.
std::uint32_t checksum(const std::string& bytes) {
  std::uint32_t sum = 0xffffffff;
  for (const char byte : bytes) {
    sum ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ (0xedb88320 & (0 - (sum & 1)));
  }
  return ~sum;
}

/// A chunk of text that says which program made the picture: by it a later run knows its own.
std::string chunk_of_software() {
  const std::string text = std::string("tEXtSoftware") + '\0' + "zhalo " + ZHALO_VERSION;
  const std::size_t type_size = 4;
  return big_endian(static_cast<std::uint32_t>(text.size() - type_size)) + text +
         big_endian(checksum(text));
}

}  // namespace

std::string Canvas::png() {
  check(cairo_status(cairo_.get()));
  std::string bytes;
  check(cairo_surface_write_to_png_stream(surface_.get(), append, &bytes));
  const std::size_t header_size = 33;  // signature and IHDR, which comes first
  return bytes.insert(header_size, chunk_of_software());
}

}  // namespace zhalo::app
