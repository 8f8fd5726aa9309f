#include "apps/plot/colour_map.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

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

}  // namespace zhalo::app
