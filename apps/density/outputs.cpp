#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <iterator>
#include <limits>

#include "apps/cli/process.hpp"
#include "apps/density/density.hpp"
#include "apps/plot/picture.hpp"
#include "apps/report/results.hpp"

namespace zhalo::density_app {

Outputs::Outputs(const Communicator& comm, const Plan& plan)
    : power(comm, "--power", plan.options.power, plan.options.output_folder),
      image(comm, "--image", plan.options.image, plan.options.output_folder) {
  if (writes_field(plan.options)) field.emplace(comm, plan.output.directory);
}

void check_outputs(const Communicator& comm, const Plan& plan) {
  const std::string& folder = plan.options.output_folder;
  const app::TextFile power(comm, "--power", plan.options.power, folder);
  const app::TextFile image(comm, "--image", plan.options.image, folder);
  if (writes_field(plan.options)) app::check_directory(comm, plan.output.directory);
}

app::Results Outputs::results() {
  app::Results all{{}, {&power, &image}};
  if (field) all.files.push_back(&*field);
  return all;
}

io::FieldRecord describe_field(const Plan& plan, const PaintReport& painted) {
  const Options& options = plan.options;
  io::FieldRecord record;
  record.name = plan.output.name;
  record.files = options.files;
  record.meaning.text = fmt::format(
      "Density of {} in units of its mean; cell (i, j, k) is around BoxCorner + (i + 1/2, j + 1/2, "
      "k + 1/2) BoxSize / GridSize",
      options.by_number ? "the number of particles" : "mass");
  record.notes = {{"Window", std::string(zhalo::name_of(options.window))},
                  {"Weights", std::string(options.by_number ? "number" : "mass")},
                  {"Interlaced", Index{options.interlaced ? 1 : 0}},
                  {"Compensation", std::string(name_of(field_compensation(options)))},
                  {"Mean", painted.mean()}};
  if (options.redshift_axis)
    record.notes.push_back({"RedshiftSpace", std::string(1, axis_names[*options.redshift_axis])});
  record.parameters = {{"Types", options.types},
                       {"NumParticles", painted.num_particles},
                       {"Precision", std::string(plan.double_positions ? "float64" : "float32")}};
  return record;
}

std::string in_brackets(const std::string& unit) {
  const bool is_word = std::all_of(unit.begin(), unit.end(),
                                   [](unsigned char letter) { return std::isalpha(letter) != 0; });
  return is_word ? unit : fmt::format("({})", unit);
}

std::string snapshot_text(const io::SnapshotInfo& info) {
  std::string name = info.stem.empty() ? info.path : info.stem;
  if (!info.cosmology.redshift) return name;
  // A run that ends at z = 0 stores it as it is rounded.
  const double redshift = std::abs(*info.cosmology.redshift) < 5e-4 ? 0 : *info.cosmology.redshift;
  return fmt::format("{}, redshift {:.3g}", name, redshift);
}

namespace {

std::string bins_text(const BinOptions& bins) {
  const bool log = bins.spacing == BinSpacing::logarithmic;
  return log ? fmt::format("logarithmic, {:.6g} per decade", bins.per_decade) : "linear";
}

/// Whether the power of particles at random positions is flat: with this compensation of this mesh,
/// and not after the window alone. Beyond the Nyquist frequency interlacing leaves images.
bool shot_noise_is_flat(const Options& options, const PowerSpectrum& spectrum) {
  const Compensation compensation = power_compensation(options);
  const bool is_ngp = options.window == Window::ngp;
  if (options.interlaced)
    return compensation == Compensation::window && !is_ngp &&
           options.bins.k_max.value_or(0) <= spectrum.nyquist;
  return compensation == Compensation::shot_noise || (compensation == Compensation::none && is_ngp);
}

std::string header_of(const Plan& plan, const PaintReport& painted, const PowerSpectrum& spectrum) {
  const Options& options = plan.options;
  const std::string unit = plan.snapshot.units.length_name();
  std::string text;
  const auto line = [&](const std::string& comment) {
    text += "# " + app::in_ascii(comment) + "\n";
  };
  line(fmt::format("power spectrum by zhalo {} of {}: {}", ZHALO_VERSION, plan.snapshot.path,
                   snapshot_text(plan.snapshot)));
  line(fmt::format("{} particles of type {}, weighted by {}", painted.num_particles,
                   fmt::join(options.types, ","), options.by_number ? "number" : "mass"));
  const Vec3d& side = plan.grid.box.length;
  line(fmt::format("{}^3 cells in a box of {:.10g} x {:.10g} x {:.10g} {}", options.grid, side[0],
                   side[1], side[2], unit));
  if (options.redshift_axis)
    line(fmt::format("redshift space: {0} + v_{0} / (a H), the box is periodic",
                     axis_names[*options.redshift_axis]));
  line(fmt::format("window {}; compensation: {}", window_text(options),
                   name_of(power_compensation(options))));
  line(
      "delta(k) = 1/N sum over the N cells of delta exp(-i k x), delta = density / mean - 1; P = V "
      "<|delta(k)|^2>");
  line(fmt::format("bins k_lo <= k < k_hi ({}) up to {}; modes counts k and -k, but not k = 0",
                   bins_text(options.bins),
                   options.bins.k_max ? "k_max" : "the Nyquist frequency"));
  line(fmt::format("units: k in 1/{0}, P in {0}^3{1}{2}", in_brackets(unit),
                   plan.snapshot.cosmological ? ", lengths comoving" : "",
                   plan.snapshot.units.assumed ? "; assumed: the file states no unit" : ""));
  line(fmt::format("fundamental {:.9g}, Nyquist {:.9g}", spectrum.fundamental, spectrum.nyquist));
  line(fmt::format("shot noise V sum(w^2) / sum(w)^2 = {:.9g}, which P contains{}",
                   shot_noise(painted, plan.grid),
                   shot_noise_is_flat(options, spectrum) ? "" : " times a function of k"));
  if (options.multipole_axis >= 0)
    line(fmt::format("P_l = (2 l + 1) V <|delta(k)|^2 L_l(k_{} / k)>",
                     axis_names[options.multipole_axis]));
  return text;
}

}  // namespace

std::string power_table(const Plan& plan, const PaintReport& painted,
                        const PowerSpectrum& spectrum) {
  std::string text = header_of(plan, painted, spectrum);
  const auto to = std::back_inserter(text);
  fmt::format_to(to, "# {:>13} {:>15} {:>11} {:>15} {:>15}", "k_mean", "P", "modes", "k_lo",
                 "k_hi");
  const std::size_t num_multipoles =
      spectrum.bins.empty() ? 0 : spectrum.bins.front().multipoles.size();
  for (std::size_t i = 0; i < num_multipoles; ++i)
    fmt::format_to(to, " {:>15}", fmt::format("P_{}", 2 * i));
  text += "\n";
  for (const PowerBin& bin : spectrum.bins) {
    fmt::format_to(to, "{:>15.9g} {:>15.9g} {:>11} {:>15.9g} {:>15.9g}", bin.k_mean, bin.power,
                   bin.num_modes, bin.k_lo, bin.k_hi);
    for (const double multipole : bin.multipoles) fmt::format_to(to, " {:>15.9g}", multipole);
    text += "\n";
  }
  return text;
}

namespace {

/// Which part of each cell along the axis is in the periodic layer [from, from + depth).
std::vector<double> shares_in_layer(const Grid& grid, const View& view, double depth) {
  const double side = grid.box.length[view.axis], spacing = grid.spacing(view.axis);
  const double begin = view.from - grid.box.lo[view.axis];
  const double from = begin - side * std::floor(begin / side);
  std::vector<double> shares(static_cast<std::size_t>(grid.num[view.axis]));
  for (std::size_t cell = 0; cell < shares.size(); ++cell) {
    const double lo = static_cast<double>(cell) * spacing, hi = lo + spacing;
    for (const double image : {0.0, side})
      shares[cell] +=
          std::max(0.0, std::min(hi + image, from + depth) - std::max(lo + image, from)) / spacing;
  }
  return shares;
}

/// A power of two by which the sum of a line of cells stays below 2^61.
double fixed_point_scale(const Context& context, Span<const float> cells, Index line) {
  double largest = 0;
  for (const float cell : cells) largest = std::max(largest, std::abs(static_cast<double>(cell)));
  const double sum = std::max(context.comm.max(largest), 1.0) * static_cast<double>(line);
  return std::exp2(std::floor(61 - std::log2(sum)));
}

/// Sums of cells along an axis, as whole numbers of 1 / scale.
struct Projection {
  int axis;
  Span<const float> values;
  std::vector<double> shares;  ///< of each cell along the axis
  double scale;

  /// Adds these cells to the sums of their lines.
  template <class SumOf>
  void add(const Field<float>& field, const IndexBox& cells, const SumOf& sum_of) const {
    for (Index x = cells.lo[0]; x < cells.hi[0]; ++x) {
      for (Index y = cells.lo[1]; y < cells.hi[1]; ++y) {
        for (GridIndex cell{{x, y, cells.lo[2]}}; cell[2] < cells.hi[2]; ++cell[2]) {
          const double value =
              values[field.layout().offset(cell)] * shares[static_cast<std::size_t>(cell[axis])];
          sum_of(cell) += std::llround(value * scale);
        }
      }
    }
  }
};

/// The two axes of the map, right and up, that go with the one along which one looks.
std::array<int, 2> map_axes(int axis) {
  if (axis == 0) return {1, 2};
  if (axis == 1) return {0, 2};
  return {0, 1};
}

constexpr Index max_unasked = 200;

/// Whether a circle of it can be seen, itself or as an image in the next boxes.
bool is_drawable(const io::Halo& halo, const Box& box) {
  bool is_near = true;
  double longest = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const double length = box.length[axis], from_lo = halo.centre[axis] - box.lo[axis];
    is_near = is_near && from_lo >= -length && from_lo <= 2 * length;
    longest = std::max(longest, length);
  }
  return is_near && halo.radius < 100 * longest;
}

bool is_in_layer(const io::Halo& halo, const Plan& plan) {
  const View& view = plan.options.view;
  const double side = plan.grid.box.length[view.axis];
  const double above = halo.centre[view.axis] - view.from;
  return plan.depth >= side || above - side * std::floor(above / side) < plan.depth;
}

std::string haloes_text(const Plan& plan) {
  if (plan.options.haloes.empty()) return {};
  const Index num = std::ssize(plan.haloes.haloes);
  const char* noun = num == 1 ? "halo" : "haloes";
  if (plan.options.min_members)
    return fmt::format("; circles: {} {} of at least {} particles", num, noun,
                       *plan.options.min_members);
  return fmt::format("; circles: {}{} {}", num == max_unasked ? "the largest " : "", num, noun);
}

}  // namespace

std::vector<double> project(const Context& context, const Field<float>& field, const View& view,
                            double depth) {
  constexpr Index max_summed = Index{1} << 19;  // so that ranks that do not draw need little memory
  const Grid& grid = field.decomposition().grid();
  const app::OnHost<float> host(context.exec, field.span());
  const Projection projection{view.axis, host.view(), shares_in_layer(grid, view, depth),
                              fixed_point_scale(context, host.view(), grid.num[view.axis])};
  const double thickness = depth / grid.spacing(view.axis);
  const int right = map_axes(view.axis)[0];
  const int up = map_axes(view.axis)[1];
  const Index strip = std::max<Index>(1, max_summed / grid.num[up]);
  std::vector<double> means;
  if (context.comm.rank() == 0)
    means.reserve(static_cast<std::size_t>(grid.num[right] * grid.num[up]));
  for (Index first = 0; first < grid.num[right]; first += strip) {
    IndexBox cells = field.cells();
    const Index end = std::min(grid.num[right], first + strip);
    cells.lo[right] = std::max(cells.lo[right], first);
    cells.hi[right] = std::min(cells.hi[right], end);
    std::vector<Index> sums(static_cast<std::size_t>((end - first) * grid.num[up]));
    projection.add(field, cells, [&](const GridIndex& cell) -> Index& {
      return sums[static_cast<std::size_t>((cell[right] - first) * grid.num[up] + cell[up])];
    });
    context.comm.sum_in_place(sums);
    if (context.comm.rank() != 0) continue;
    for (const Index sum : sums)
      means.push_back(static_cast<double>(sum) / projection.scale / thickness);
  }
  return means;
}

ShownHaloes read_shown_haloes(const Plan& plan) {
  const auto& min_members = plan.options.min_members;
  const Index max_haloes = min_members ? std::numeric_limits<Index>::max() : max_unasked;
  ShownHaloes shown;
  shown.list = io::read_haloes(plan.options.haloes, max_haloes, [&](const io::Halo& halo) {
    if (halo.length < min_members.value_or(0)) return false;
    if (is_drawable(halo, plan.grid.box)) return is_in_layer(halo, plan);
    ++shown.num_undrawable;
    return false;
  });
  return shown;
}

std::string draw(const Plan& plan, std::vector<double> projected) {
  const Options& options = plan.options;
  const auto axes = map_axes(options.view.axis);
  app::Picture picture;
  picture.values = std::move(projected);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    picture.num[i] = plan.grid.num[axes[i]];
    picture.lo[i] = plan.grid.box.lo[axes[i]];
    picture.length[i] = plan.grid.box.length[axes[i]];
    picture.axes[i] = axis_names[axes[i]];
  }
  picture.unit = plan.snapshot.units.length_name();
  picture.quantity =
      options.by_number ? "projected number density / mean" : "projected density / mean";
  picture.title = snapshot_text(plan.snapshot);
  const char* compensated =
      field_compensation(options) == Compensation::none ? "" : ", compensated";
  const std::string space = options.redshift_axis ? fmt::format(" in redshift space ({})",
                                                                axis_names[*options.redshift_axis])
                                                  : "";
  picture.subtitle =
      fmt::format("{}{}; {}\u00b3 cells, {}{}{}", layer_text(plan), space, options.grid,
                  window_text(options), compensated, haloes_text(plan));
  picture.longer_side = options.pixels;
  for (const io::Halo& halo : plan.haloes.haloes)
    picture.circles.push_back({{halo.centre[axes[0]], halo.centre[axes[1]]}, halo.radius});
  return draw_png(picture);
}

}  // namespace zhalo::density_app
