/// Power spectra against the sum over all modes of the full spectrum, by the definition of the
/// Fourier transform.
#include "zhalo/mesh/power_spectrum.hpp"

#include "tests/mpi/comm/agreed_error.hpp"
#include "tests/mpi/mesh/modes_case.hpp"
#include "tests/support/direct_dft.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;
using Catch::Contains;

/// Modes of a function of cells, all of them, as means.
ComplexValues all_modes(const Grid& grid, const CellFunction& value) {
  ComplexValues cells(static_cast<std::size_t>(grid.size()));
  for_cells(grid.index_box(),
            [&](const GridIndex& cell) { cells[index_on(grid.num, cell)] = value(cell); });
  ComplexValues modes = direct_dft(grid.num, cells);
  for (std::complex<double>& mode : modes) mode /= static_cast<double>(grid.size());
  return modes;
}

double legendre(int l, double mu) {
  switch (l) {
    case 0: return 1;
    case 2: return (3 * mu * mu - 1) / 2;
    case 4: return (35 * std::pow(mu, 4) - 30 * mu * mu + 3) / 8;
    default: return (231 * std::pow(mu, 6) - 315 * std::pow(mu, 4) + 105 * mu * mu - 5) / 16;
  }
}

/// The bin [lo, hi) of the spectrum of a and b. Edges that modes are meant to be on are taken to be
/// there.
PowerBin sum_bin(const Grid& grid, const ComplexValues& a, const ComplexValues& b,
                 const PowerBin& edges, int axis) {
  PowerBin bin = edges;
  bin.num_modes = 0;
  double sum_k = 0;
  double sum = 0;
  std::vector<double> multipoles(edges.multipoles.size());
  for_cells(grid.index_box(), [&](const GridIndex& mode) {
    const Vec3d k{{k_along(grid, mode, 0), k_along(grid, mode, 1), k_along(grid, mode, 2)}};
    const double length = std::sqrt(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]);
    if (length == 0 || length < edges.k_lo * (1 - 1e-9) || length >= edges.k_hi * (1 - 1e-9))
      return;
    const std::size_t i = index_on(grid.num, mode);
    const double product = (a[i] * std::conj(b[i])).real() * grid.box.volume();
    ++bin.num_modes;
    sum_k += length;
    sum += product;
    for (std::size_t l = 0; l < multipoles.size(); ++l) {
      const int order = 2 * static_cast<int>(l);
      multipoles[l] += (2 * order + 1) * product * legendre(order, k[axis] / length);
    }
  });
  const auto num = static_cast<double>(bin.num_modes);
  bin.k_mean = bin.num_modes > 0 ? sum_k / num : (edges.k_lo + edges.k_hi) / 2;
  bin.power = sum / num;
  for (std::size_t l = 0; l < multipoles.size(); ++l) bin.multipoles[l] = multipoles[l] / num;
  return bin;
}

void check_bin(const PowerBin& found, const PowerBin& expected, double scale) {
  CHECK(found.num_modes == expected.num_modes);
  CHECK(found.k_mean == Approx(expected.k_mean).epsilon(1e-12));
  if (expected.num_modes == 0) {
    CHECK(std::isnan(found.power));
    return;
  }
  CHECK(std::abs(found.power - expected.power) <= scale);
  for (std::size_t l = 0; l < expected.multipoles.size(); ++l)
    CHECK(std::abs(found.multipoles[l] - expected.multipoles[l]) <= 20 * scale);
}

/// Of noise with itself and with other noise that is opposed to it.
template <class T>
void check_spectra(const Context& context, const Decomposition& decomposition,
                   const PowerOptions& options) {
  const Grid& grid = decomposition.grid();
  const CellFunction first = [](const GridIndex& cell) {
    return 3 + static_cast<double>(static_cast<T>(noise_at(cell, 5)));
  };
  const CellFunction second = [](const GridIndex& cell) {
    return static_cast<double>(static_cast<T>(noise_at(cell, 6) - 2 * noise_at(cell, 5)));
  };
  const ComplexValues a = all_modes(grid, first);
  const ComplexValues b = all_modes(grid, second);
  const Modes<T> a_modes = modes_of<T>(context, decomposition, first);
  const Modes<T> b_modes = modes_of<T>(context, decomposition, second);
  const PowerSpectrum own = power_spectrum(context, a_modes, options);
  const PowerSpectrum cross = cross_power_spectrum(context, a_modes, b_modes, options);
  const double scale = grid.box.volume() * tolerance_of<T>;
  REQUIRE(own.bins.size() == cross.bins.size());
  for (std::size_t i = 0; i < own.bins.size(); ++i) {
    INFO("bin " << i << " from " << own.bins[i].k_lo << " to " << own.bins[i].k_hi);
    const int axis = std::max(options.multipole_axis, 0);
    check_bin(own.bins[i], sum_bin(grid, a, a, own.bins[i], axis), scale);
    check_bin(cross.bins[i], sum_bin(grid, a, b, cross.bins[i], axis), scale);
    CHECK(own.bins[i].multipoles.size() ==
          (options.multipole_axis < 0 ? 0U
                                      : static_cast<std::size_t>(options.max_multipole / 2 + 1)));
  }
  CHECK(own.volume == Approx(grid.box.volume()));
}

Index modes_in(const PowerSpectrum& spectrum) {
  Index sum = 0;
  for (const PowerBin& bin : spectrum.bins) sum += bin.num_modes;
  return sum;
}

constexpr double two_pi = 2 * std::numbers::pi;

}  // namespace

TEMPLATE_TEST_CASE("power spectrum: of all modes, in all kinds of bins", "", float, double) {
  const Context context = make_context();
  std::vector<Grid> grids{box_grid({{8, 8, 8}}, {{3, 3, 3}}), box_grid({{8, 6, 10}}, {{3, 5, 2}}),
                          box_grid({{7, 6, 9}}, {{2, 2, 2}}), box_grid({{3, 2, 17}}, {{1, 1, 4}})};
  if (context.comm.size() > 4) grids.resize(2);
  for (const Grid& grid : grids) {
    const double longest = std::max({grid.box.length[0], grid.box.length[1], grid.box.length[2]});
    const double far = 20 * two_pi / longest;  // the corners, and more
    for (const Decomposition& decomposition : decompositions_of(context, grid)) {
      INFO(decomposition.describe());
      check_spectra<TestType>(context, decomposition, {});
      check_spectra<TestType>(
          context, decomposition,
          {.bins = {.k_min = 0.0, .k_max = far, .width = 0.7}, .multipole_axis = 2});
      check_spectra<TestType>(
          context, decomposition,
          {.bins = {.spacing = BinSpacing::logarithmic, .k_max = far, .per_decade = 7},
           .multipole_axis = 0,
           .max_multipole = 6});
    }
  }
}

TEST_CASE(
    "power spectrum: the usual bins are whole multiples of the fundamental, whatever the box's "
    "length") {
  const Context context = make_context();
  for (const double length : {1.0, 3.0, 0.7, 1000.0 / 3, 37.0}) {  // 37: an edge is rounded up
    const Decomposition decomposition(Grid::cube(12, length), context.comm.size());
    const PowerSpectrum spectrum =
        power_spectrum(context, modes_of<double>(context, decomposition, noise_field()));
    CHECK(spectrum.fundamental == Approx(two_pi / length));
    CHECK(spectrum.nyquist == Approx(6 * two_pi / length));
    REQUIRE(spectrum.bins.size() == 5);
    for (Index i = 1; i <= 5; ++i) {
      // By whole numbers: |n|^2 from i^2 to below (i + 1)^2.
      Index num = 0;
      for_cells({{{-6, -6, -6}}, {{6, 6, 6}}}, [&](const GridIndex& n) {
        const Index n2 = n[0] * n[0] + n[1] * n[1] + n[2] * n[2];
        num += n2 >= i * i && n2 < (i + 1) * (i + 1) ? 1 : 0;
      });
      const PowerBin& bin = spectrum.bins[static_cast<std::size_t>(i - 1)];
      CHECK(bin.num_modes == num);
      CHECK(bin.k_lo == Approx(static_cast<double>(i) * two_pi / length));
      CHECK(bin.k_hi == Approx(static_cast<double>(i + 1) * two_pi / length));
    }
  }
}

TEST_CASE("power spectrum: bins that reach from 0 to the corners have all modes but one") {
  const Context context = make_context();
  for (const Grid& grid : odd_grids()) {
    const Decomposition decomposition(grid, context.comm.size());
    const PowerSpectrum spectrum =
        power_spectrum(context, modes_of<double>(context, decomposition, noise_field()),
                       {.bins = {.k_min = 0.0, .k_max = 1e4}});
    CHECK(modes_in(spectrum) == grid.size() - 1);
  }
}

TEST_CASE("power spectrum: bins begin at the least fundamental and end at the least Nyquist") {
  const Context context = make_context();
  for (int turn = 0; turn < 3; ++turn) {
    Grid grid;
    for (int axis = 0; axis < 3; ++axis) {
      const int of = (axis + turn) % 3;  // one axis has the longest side, another the widest cells
      grid.num[axis] = std::array{12, 10, 6}[static_cast<std::size_t>(of)];
      grid.box.length[axis] = std::array{5, 8, 6}[static_cast<std::size_t>(of)];
    }
    const Modes<double> modes =
        modes_of<double>(context, Decomposition(grid, context.comm.size()), noise_field());
    const PowerSpectrum spectrum = power_spectrum(context, modes);
    CHECK(spectrum.fundamental == Approx(two_pi / 8));
    CHECK(spectrum.nyquist == Approx(two_pi / 2));
    CHECK(spectrum.bins.front().k_lo == Approx(two_pi / 8));
    CHECK(spectrum.bins.back().k_hi == Approx(two_pi / 2));
  }
}

TEST_CASE("power spectrum: hundreds of bins have the modes and the power of one wide bin") {
  const Context context = make_context();
  const Decomposition decomposition(Grid::cube(8), context.comm.size());
  const Modes<double> modes = modes_of<double>(context, decomposition, noise_field());
  const auto spectrum_of = [&](double width) {
    return power_spectrum(context, modes, {.bins = {.k_min = 0.0, .k_max = 50.0, .width = width}});
  };
  const PowerSpectrum many = spectrum_of(0.0625), one = spectrum_of(50);
  REQUIRE(many.bins.size() == 800);
  CHECK(modes_in(many) == 511);
  double power = 0;
  for (const PowerBin& bin : many.bins)
    power += bin.num_modes > 0 ? static_cast<double>(bin.num_modes) * bin.power : 0;
  CHECK(power == Approx(511 * one.bins.at(0).power).epsilon(1e-12));
}

TEST_CASE("power spectrum: more modes of a rank than are summed at once") {
  const Context context = make_context();
  if (context.comm.size() > 1) return;
  const Decomposition decomposition(Grid{{{4, 4, Index{1} << 19}}, Box::periodic_cube(1)}, 1);
  Modes<float> modes(context, decomposition);  // all of them 1: 2^22 with k_z >= 0, and 16
  std::fill(modes.span().begin(), modes.span().end(), 1.0F);
  const PowerSpectrum spectrum =
      power_spectrum(context, modes, {.bins = {.k_min = 0.0, .k_max = 1e8, .width = 1e8}});
  CHECK(modes_in(spectrum) == decomposition.grid().size() - 1);
  CHECK(spectrum.bins.at(0).power == Approx(1));
}

TEST_CASE("power spectrum: a wave's power, and the sign of what two fields have in common") {
  const Context context = make_context();
  const Grid grid = box_grid({{16, 16, 16}}, {{50, 50, 50}});
  const Decomposition decomposition(grid, context.comm.size());
  const Wave wave{grid, {{3, -4, 1}}, 0.9};
  const Modes<double> a = modes_of<double>(context, decomposition, [&](const GridIndex& cell) {
    return 2 * std::cos(wave.angle(cell));
  });
  const Modes<double> b = modes_of<double>(
      context, decomposition, [&](const GridIndex& cell) { return -std::cos(wave.angle(cell)); });
  const PowerOptions options{.multipole_axis = 1};
  const PowerBin own = power_spectrum(context, a, options).bins[4];  // |n| = sqrt(26)
  const PowerBin cross = cross_power_spectrum(context, a, b, options).bins[4];
  // Two modes of amplitude 1, and 1 times -1/2, among all of the bin; mu^2 = 16/26.
  const double power = 50.0 * 50 * 50 * 2 / static_cast<double>(own.num_modes);
  CHECK(own.power == Approx(power));
  CHECK(cross.power == Approx(-power / 2));
  CHECK(own.multipoles[0] == Approx(power));
  CHECK(own.multipoles[1] == Approx(5 * power * legendre(2, std::sqrt(16.0 / 26))));
  CHECK(own.multipoles[2] == Approx(9 * power * legendre(4, std::sqrt(16.0 / 26))));
  CHECK(power_spectrum(context, a, options).bins[3].power == Approx(0).margin(1e-20));
}

TEST_CASE(
    "power spectrum: equal bits for any number of threads, and nearly so for any number of ranks",
    "[small]") {
  Context context = make_context();
  const Grid grid = Grid::cube(24, 10.0);
  const PowerOptions options{.bins = {.k_max = 10.0}, .multipole_axis = 0};
  Context alone;
  alone.exec = host_exec(1);
  const PowerSpectrum one = power_spectrum(
      alone, modes_of<double>(alone, Decomposition(grid, 1), noise_field()), options);
  for (const Decomposition& decomposition : decompositions_of(context, grid)) {
    const Modes<double> modes = modes_of<double>(context, decomposition, noise_field());
    const PowerSpectrum first = power_spectrum(context, modes, options);
    context.exec = host_exec(3);
    const PowerSpectrum again = power_spectrum(context, modes, options);
    context.exec = host_exec(1);
    REQUIRE(first.bins.size() == one.bins.size());
    for (std::size_t i = 0; i < one.bins.size(); ++i) {
      CHECK(first.bins[i].power == again.bins[i].power);
      CHECK(first.bins[i].k_mean == again.bins[i].k_mean);
      CHECK(first.bins[i].multipoles == again.bins[i].multipoles);
      CHECK(first.bins[i].num_modes == one.bins[i].num_modes);
      CHECK(first.bins[i].power == Approx(one.bins[i].power).epsilon(1e-12));
      CHECK(first.bins[i].k_mean == Approx(one.bins[i].k_mean).epsilon(1e-12));
      for (std::size_t l = 0; l < 3; ++l)
        CHECK(std::abs(first.bins[i].multipoles[l] - one.bins[i].multipoles[l]) <=
              1e-11 * one.bins[i].power);
    }
  }
}

TEMPLATE_TEST_CASE("power spectrum: compensated as it is summed, or the modes before", "", float,
                   double) {
  const Context context = make_context();
  const Grid grid = box_grid({{8, 6, 9}}, {{3, 5, 2}});
  for (const Decomposition& decomposition : decompositions_of(context, grid)) {
    const Modes<TestType> modes = modes_of<TestType>(context, decomposition, noise_field());
    const double plain = power_spectrum(context, modes).bins.at(1).power;
    Modes<TestType> other = copy_of(context, modes);
    scale(context, other, -0.3);
    for (const Window window : {Window::cic, Window::pcs}) {
      for (const auto how : {Compensation::none, Compensation::window, Compensation::shot_noise}) {
        Modes<TestType> compensated = copy_of(context, modes);
        compensate(context, compensated, window, how);
        Modes<TestType> compensated_other = copy_of(context, other);
        compensate(context, compensated_other, window, how);
        const PowerSpectrum expected = power_spectrum(context, compensated, {.multipole_axis = 2});
        const PowerSpectrum found = power_spectrum(
            context, modes, {.multipole_axis = 2, .window = window, .compensation = how});
        REQUIRE(found.bins.size() == expected.bins.size());
        for (std::size_t i = 0; i < found.bins.size(); ++i) {
          CHECK(found.bins[i].power == expected.bins[i].power);
          CHECK(found.bins[i].multipoles == expected.bins[i].multipoles);
        }
        CHECK((found.bins.at(1).power > plain) == (how != Compensation::none));
        CHECK(cross_power_spectrum(context, modes, other, {.window = window, .compensation = how})
                  .bins.at(1)
                  .power ==
              cross_power_spectrum(context, compensated, compensated_other).bins.at(1).power);
      }
    }
  }
}

TEST_CASE("power spectrum: bad input is one error on all ranks", "[small]") {
  const Context context = make_context();
  const int ranks = context.comm.size();
  const Modes<double> modes =
      modes_of<double>(context, Decomposition(Grid::cube(8), ranks), noise_field());
  const Modes<double> other =
      modes_of<double>(context, Decomposition(Grid::cube(8, 2.0), ranks), noise_field());
  Grid flat{{{8, 8, 8}}, Box::periodic_cube(1)};
  flat.box.length[1] = 0;
  const Modes<double> without_volume =
      modes_of<double>(context, Decomposition(flat, ranks), noise_field());
  const auto error_of = [&](const PowerOptions& options) {
    return input_error_of(context, [&] { power_spectrum(context, modes, options); });
  };
  CHECK_THAT(error_of({.bins = {.k_min = -1.0}}), Contains("first edge -1"));
  CHECK_THAT(error_of({.bins = {.spacing = BinSpacing::logarithmic, .k_min = 0.0}}),
             Contains("first edge 0"));
  CHECK_THAT(error_of({.bins = {.k_max = std::nan("")}}), Contains("last edge nan"));
  CHECK_THAT(error_of({.bins = {.width = 0.0}}), Contains("width 0"));
  CHECK_THAT(error_of({.bins = {.spacing = BinSpacing::logarithmic, .per_decade = -2}}),
             Contains("per decade of -2"));
  CHECK_THAT(error_of({.bins = {.k_min = 5.0, .k_max = 5.0}}), Contains("begin below their end"));
  CHECK_THAT(error_of({.bins = {.width = 1e-9}}), Contains("make them wider"));
  CHECK_THAT(error_of({.multipole_axis = 3}), Contains("about axis 3"));
  CHECK_THAT(error_of({.multipole_axis = 0, .max_multipole = 3}), Contains("up to 3"));
  CHECK_THAT(error_of({.window = static_cast<Window>(5)}), Contains("order 5"));
  CHECK_THAT(error_of({.bins = {.spacing = static_cast<BinSpacing>(2)}}),
             Contains("the spacing of bins is number 2, which is no enumerator"));
  CHECK_THAT(input_error_of(context, [&] { cross_power_spectrum(context, modes, other); }),
             Contains("different grids") && Contains("1 x 1 x 1 and 2 x 2 x 2"));
  CHECK_THAT(input_error_of(context, [&] { power_spectrum(context, without_volume); }),
             Contains("length 0 along y"));
  if (ranks > 1) {
    PowerOptions options;
    options.bins.width = context.comm.rank() == 0 ? 7.0 : 8.0;
    CHECK_THAT(error_of(options), Contains("differ between ranks"));
    PowerOptions other_windows;
    other_windows.window = context.comm.rank() == 0 ? Window::cic : Window::tsc;
    CHECK_THAT(error_of(other_windows), Contains("differ between ranks"));
    const Grid own = Grid::cube(8, context.comm.rank() == 0 ? 1.0 : 2.0);
    const Modes<double> of_own(context, Decomposition(own, ranks));
    CHECK_THAT(input_error_of(context, [&] { power_spectrum(context, of_own); }),
               Contains("differ between ranks"));
  }
  const Modes<double> tiny =
      modes_of<double>(context, Decomposition(Grid::cube(2), ranks), noise_field());
  CHECK(power_spectrum(context, tiny).bins.empty());
}

TEST_CASE("power spectrum: a box of 2 dimensions has no volume") {
  const Context context = make_context();
  Grid plane = Grid::cube(8);
  plane.box.dimensions = 2;
  const Modes<double> modes =
      modes_of<double>(context, Decomposition(plane, context.comm.size()), noise_field());
  CHECK_THAT(input_error_of(context, [&] { power_spectrum(context, modes); }),
             Contains("2 dimensions"));
}
