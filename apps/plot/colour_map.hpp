/// Colours for numbers, which look as even as the numbers are.
#pragma once

#include <array>
#include <cstdint>

namespace zhalo::app {

/// Red, green and blue of sRGB, each 0 to 1.
using Colour = std::array<double, 3>;

/// From dark violet (0) over red and orange to pale yellow (1). The lightness rises evenly from
/// 0.13 to 0.97 in Oklab, the hue turns evenly, and the chroma is as large as a screen can show, up
/// to a smooth limit.
Colour map_colour(double t);

/// 0xffRRGGBB.
std::uint32_t packed(const Colour& colour);

}  // namespace zhalo::app
