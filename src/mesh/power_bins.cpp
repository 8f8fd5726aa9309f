#include "src/mesh/power_bins.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "src/core/validate.hpp"

namespace zhalo {
namespace {

constexpr double max_bins = 1 << 20;
/// Edges are sums and products with errors of rounding; a mode that they are meant to be at is
/// beyond them.
constexpr double tolerance = 1e-12;

void validate_options(const BinOptions& options) {
  const auto check = [](const std::optional<double>& value, const char* what, double least,
                        bool may_be_least) {
    if (!value) return;
    const bool fits =
        std::isfinite(*value) && (*value > least || (may_be_least && *value == least));
    validate(fits, "bins of a power spectrum have {} {} (must be finite and {})", what, *value,
             may_be_least ? "not negative" : "more than 0");
  };
  const bool is_linear = options.spacing == BinSpacing::linear;
  check(options.k_min, "first edge", 0, is_linear);
  check(options.k_max, "last edge", 0, false);
  check(options.width, "width", 0, false);
  check(options.per_decade, "a number per decade of", 0, false);
}

/// Edge i without end.
double edge_of(const BinOptions& options, double k_min, double width, double i) {
  if (options.spacing == BinSpacing::linear) return k_min + i * width;
  return k_min * std::pow(10, i / options.per_decade);
}

/// The number of bins, in real numbers.
double count_of(const BinOptions& options, double k_min, double k_max, double width) {
  if (options.spacing == BinSpacing::linear) return (k_max - k_min) / width;
  return std::log10(k_max / k_min) * options.per_decade;
}

}  // namespace

double min_fundamental(const Grid& grid) {
  return std::min({fundamental(grid, 0), fundamental(grid, 1), fundamental(grid, 2)});
}

double min_nyquist(const Grid& grid) {
  double least = std::numeric_limits<double>::infinity();
  for (int axis = 0; axis < 3; ++axis)
    least = std::min(least, fundamental(grid, axis) / 2 * static_cast<double>(grid.num[axis]));
  return least;
}

bool is_cubic(const Grid& grid) {
  return grid.box.length[0] == grid.box.length[1] && grid.box.length[1] == grid.box.length[2];
}

PowerBins make_bins(const Grid& grid, const BinOptions& options) {
  validate_options(options);
  PowerBins bins;
  bins.unit = min_fundamental(grid);
  const double k_min = options.k_min.value_or(bins.unit);
  const double k_max = options.k_max.value_or(min_nyquist(grid));
  const double width = options.width.value_or(bins.unit);
  const double before_last = k_max * (1 - tolerance);
  if (k_min >= before_last && !options.k_min && !options.k_max) return bins;
  validate(k_min < before_last,
           "bins of a power spectrum begin at {} and end at {} (must begin below their end)", k_min,
           k_max);
  const double count = count_of(options, k_min, k_max, width);
  validate(count < max_bins,
           "a power spectrum is to have {} bins (must be fewer than {}; make them wider)", count,
           max_bins);
  for (double i = 0; edge_of(options, k_min, width, i) < before_last; ++i)
    bins.k.push_back(edge_of(options, k_min, width, i));
  bins.k.push_back(k_max);
  for (const double edge : bins.k) {
    const double square = edge / bins.unit * (edge / bins.unit);
    const double whole = std::round(square);
    const bool is_whole = std::abs(square - whole) <= tolerance * square;
    if (is_cubic(grid)) {
      bins.square.push_back(is_whole ? whole : std::ceil(square));
    } else {
      bins.square.push_back(square * (1 - tolerance));
    }
  }
  return bins;
}

}  // namespace zhalo
