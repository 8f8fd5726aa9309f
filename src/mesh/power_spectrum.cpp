#include "zhalo/mesh/power_spectrum.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "kernels/on.hpp"
#include "src/comm/agreement.hpp"
#include "src/core/instantiate.hpp"
#include "src/core/validate.hpp"
#include "src/mesh/mode_tables.hpp"

namespace zhalo {
namespace {

struct PowerBins {
  double unit = 1;             ///< the fundamental, in which squares are measured
  std::vector<double> k;       ///< edges
  std::vector<double> square;  ///< a mode is beyond an edge if its square is not less: in a cubic
                               ///< box squares are whole numbers

  Index num() const { return static_cast<Index>(k.empty() ? 0 : k.size() - 1); }
};

constexpr double max_bins = 1 << 20;
/// Edges are sums and products with errors of rounding; a mode that they are meant to be at is
/// beyond them.
constexpr double tolerance = 1e-12;

void validate_options(const BinOptions& options) {
  const auto check = [](const std::optional<double>& value, const char* what, double lower_bound,
                        bool may_be_bound) {
    if (!value) return;
    const bool fits =
        std::isfinite(*value) && (*value > lower_bound || (may_be_bound && *value == lower_bound));
    validate(fits, "bins of a power spectrum have {} {} (must be finite and {})", what, *value,
             may_be_bound ? "not negative" : "more than 0");
  };
  validate_enumerator(options.spacing, BinSpacing::logarithmic, "the spacing of bins");
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

/// The least of 2 pi / length, and of pi / spacing. InputError for a box without volume.
double min_fundamental(const Grid& grid) {
  return std::min({fundamental(grid, 0), fundamental(grid, 1), fundamental(grid, 2)});
}

double min_nyquist(const Grid& grid) {
  double smallest = std::numeric_limits<double>::infinity();
  for (int axis = 0; axis < 3; ++axis)
    smallest =
        std::min(smallest, fundamental(grid, axis) / 2 * static_cast<double>(grid.num[axis]));
  return smallest;
}

/// Whether all sides are equal.
bool is_cubic(const Grid& grid) {
  return grid.box.length[0] == grid.box.length[1] && grid.box.length[1] == grid.box.length[2];
}

/// InputError for bins that make no sense. No bins if none is asked for and the grid has no room
/// for the usual ones.
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

constexpr int max_multipole = 16;

Index num_multipoles(const PowerOptions& options) {
  return options.multipole_axis < 0 ? 0 : options.max_multipole / 2 + 1;
}

void validate_multipoles(const PowerOptions& options) {
  validate(options.multipole_axis >= -1 && options.multipole_axis < 3,
           "multipoles of a power spectrum are about axis {} (must be 0, 1, 2, or -1: none)",
           options.multipole_axis);
  validate(options.max_multipole >= 0 && options.max_multipole <= max_multipole &&
               options.max_multipole % 2 == 0,
           "multipoles of a power spectrum go up to {} (must be an even number up to {})",
           options.max_multipole, max_multipole);
}

void validate_agreed(const Communicator& comm, const Decomposition& decomposition,
                     const PowerOptions& options) {
  const BinOptions& bins = options.bins;
  validate_equal(comm,
                 numbers_of(bins.spacing, bins.k_min, bins.k_max, bins.width, bins.per_decade,
                            options.multipole_axis, options.max_multipole, options.window,
                            options.compensation, decomposition.shape(), decomposition.grid().num,
                            decomposition.grid().box.length),
                 "the options of a power spectrum, or the grid,");
}

/// The unit of wave numbers, the axis that multipoles are about, and what multiplies modes.
struct PowerFrame {
  double unit = 1;
  int line_of_sight = -1;
  Index num_multipoles = 0;
  AxisFunction factor;
};

/// Tables of a rank's modes.
struct PowerTables {
  ModeTables squares;
  ModeTables along;
  Buffer<double> weights;  ///< along z, which is the last axis
  std::optional<ModeTables> factors;

  PowerTables(const Exec& exec, const Grid& grid, const BoxLayout& layout, const PowerFrame& frame)
      : squares(exec, grid, layout,
                [&](int axis, Index wave) {
                  return std::pow(component(grid, frame.unit, axis, wave), 2);
                }),
        along(exec, grid, layout,
              [&](int axis, Index wave) {
                return axis == frame.line_of_sight ? component(grid, frame.unit, axis, wave) : 0;
              }),
        weights(weights_along_z(exec, grid, layout)) {
    if (frame.factor) factors.emplace(exec, grid, layout, frame.factor);
  }

 private:
  /// Modes with negative k_z are not kept; 0 and the Nyquist frequency have no other sign.
  static Buffer<double> weights_along_z(const Exec& exec, const Grid& grid,
                                        const BoxLayout& layout) {
    std::vector<double> weights;
    for (Index wave = layout.index_box.lo[2]; wave < layout.index_box.hi[2]; ++wave)
      weights.push_back(wave == 0 || is_nyquist(wave, grid.num[2]) ? 1 : 2);
    return to_exec(exec, Span<const double>(weights), "weights of modes");
  }
  /// Of the wave vector, in the unit: a whole number in a cubic box.
  static double component(const Grid& grid, double unit, int axis, Index wave) {
    return (is_cubic(grid) ? 1 : fundamental(grid, axis) / unit) * static_cast<double>(wave);
  }
};

template <class T>
std::vector<double> sum_own(const Context& context, const Modes<T>& a, const Modes<T>& b,
                            const PowerBins& bins, const PowerFrame& frame) {
  const BoxLayout& layout = a.layout();
  if (layout.size == 0)
    return std::vector<double>(static_cast<std::size_t>(bins.num() * (3 + frame.num_multipoles)));
  const Exec& exec = context.exec;
  const PowerTables tables(exec, a.decomposition().grid(), layout, frame);
  const auto edges = to_exec(exec, Span<const double>(bins.square), "bins of a power spectrum");
  kernels::PowerView<T> view;
  view.rows = rows_of(layout, layout.index_box);
  view.a = parts_of(a);
  view.b = parts_of(b);
  view.squares = tables.squares.view();
  view.along = tables.along.view();
  view.weights = tables.weights.span();
  if (tables.factors) view.factors = tables.factors->view();
  view.edges = edges.span();
  view.num_multipoles = frame.num_multipoles;
  return kernels::on(exec, [&](const auto& e) { return kernels::sum_powers(e, view); });
}

/// In place, in the order of ranks. Each rank holds those of all ranks, so only a few at a time.
void sum_over_ranks(const Communicator& comm, std::vector<double>& sums) {
  constexpr std::size_t at_a_time = 64;
  using Record = std::array<double, at_a_time>;
  for (std::size_t first = 0; first < sums.size(); first += at_a_time) {
    const std::size_t count = std::min(at_a_time, sums.size() - first);
    Record own{};
    std::copy_n(sums.begin() + static_cast<std::ptrdiff_t>(first), count, own.begin());
    Record total{};
    for (const Record& other : comm.all_gather(own))
      for (std::size_t i = 0; i < count; ++i) total[i] += other[i];
    std::copy_n(total.begin(), count, sums.begin() + static_cast<std::ptrdiff_t>(first));
  }
}

/// From the sums of a bin.
PowerBin finish_bin(Span<const double> sums, double unit, double volume) {
  PowerBin bin;
  bin.num_modes = std::llround(sums[0]);
  const auto mean = [&](double sum) {
    return bin.num_modes == 0 ? std::numeric_limits<double>::quiet_NaN() : volume * sum / sums[0];
  };
  bin.k_mean = unit * sums[1] / sums[0];
  bin.power = mean(sums[2]);
  for (Index l = 3; l < sums.size(); ++l) bin.multipoles.push_back(mean(sums[l]));
  return bin;
}

PowerSpectrum finish(const PowerBins& bins, const Grid& grid, const std::vector<double>& sums) {
  PowerSpectrum spectrum;
  spectrum.volume = grid.box.volume();
  spectrum.fundamental = bins.unit;
  spectrum.nyquist = min_nyquist(grid);
  const auto width = static_cast<Index>(sums.size()) / std::max<Index>(bins.num(), 1);
  for (Index i = 0; i < bins.num(); ++i) {
    PowerBin bin =
        finish_bin(Span<const double>(sums).subspan(i * width, width), bins.unit, spectrum.volume);
    bin.k_lo = bins.k[static_cast<std::size_t>(i)];
    bin.k_hi = bins.k[static_cast<std::size_t>(i) + 1];
    if (bin.num_modes == 0) bin.k_mean = (bin.k_lo + bin.k_hi) / 2;
    spectrum.bins.push_back(std::move(bin));
  }
  return spectrum;
}

}  // namespace

template <class T>
PowerSpectrum cross_power_spectrum(const Context& context, const Modes<T>& a, const Modes<T>& b,
                                   const PowerOptions& options) {
  return together(context, [&] {
    const PhaseTimer timer(context, "power spectrum");
    validate_same(a.decomposition(), b.decomposition(), "the modes of a cross power spectrum");
    validate_multipoles(options);
    const Grid& grid = a.decomposition().grid();
    const PowerBins bins = make_bins(grid, options.bins);
    validate_periodic(grid, "a power spectrum is asked for");
    validate_agreed(context.comm, a.decomposition(), options);
    const PowerFrame frame{bins.unit, options.multipole_axis, num_multipoles(options),
                           compensation_of(grid, options.window, options.compensation)};
    std::vector<double> sums = sum_own(context, a, b, bins, frame);
    sum_over_ranks(context.comm, sums);
    return finish(bins, grid, sums);
  });
}

template <class T>
PowerSpectrum power_spectrum(const Context& context, const Modes<T>& modes,
                             const PowerOptions& options) {
  return cross_power_spectrum(context, modes, modes, options);
}

double shot_noise(const PaintReport& report, const Grid& grid) {
  return grid.box.volume() / report.effective_number;
}

ZHALO_FOR_REALS(power_spectrum);
ZHALO_FOR_REALS(cross_power_spectrum);

}  // namespace zhalo
