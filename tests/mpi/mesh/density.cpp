/// Density modes of particles against sums over the particles themselves, and over the cells of
/// both meshes.
#include "zhalo/mesh/density.hpp"

#include "tests/mpi/comm/agreed_error.hpp"
#include "tests/mpi/mesh/density_case.hpp"
#include "zhalo/ics/initial_conditions.hpp"
#include "zhalo/mesh/gravity.hpp"
#include "zhalo/mesh/power_spectrum.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;
using Catch::Contains;
/// k times the way from the middle of cell 0, which the phases of modes count from.
double phase_at(const Grid& grid, const GridIndex& mode, const double* position) {
  double sum = 0;
  for (int axis = 0; axis < 3; ++axis)
    sum +=
        k_along(grid, mode, axis) * (position[axis] - grid.box.lo[axis] - 0.5 * grid.spacing(axis));
  return sum;
}

/// The mean of exp(- i k x) over the particles: what no mesh has touched.
std::complex<double> mode_of_points(const Points& point_set, const GridIndex& mode) {
  std::complex<double> sum;
  double mass = 0;
  for (Index i = 0; i < point_set.num(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    sum += point_set.mass[at] *
           std::polar(1.0, -phase_at(point_set.grid, mode, &point_set.pos[3 * at]));
    mass += point_set.mass[at];
  }
  return sum / mass;
}

/// What is left of a particle at `position` of mass 1: the window's transform at k and at those
/// images of k (whole multiples of the sampling frequencies away) that are not cancelled. Far
/// images are left out.
std::complex<double> images_of(const Grid& grid, const GridIndex& mode, const double* position,
                               bool interlaced) {
  constexpr Index far = 6;
  std::complex<double> sum;
  for_cells({{{-far, -far, -far}}, {{far + 1, far + 1, far + 1}}}, [&](const GridIndex& image) {
    if (interlaced && (image[0] + image[1] + image[2]) % 2 != 0) return;
    double window = 1;
    double phase = 0;
    for (int axis = 0; axis < 3; ++axis) {
      const double k = k_along(grid, mode, axis) +
                       2 * std::numbers::pi * static_cast<double>(image[axis]) / grid.spacing(axis);
      window *= std::pow(sinc(k * grid.spacing(axis) / 2), 4);
      phase += k * (position[axis] - grid.box.lo[axis] - 0.5 * grid.spacing(axis));
    }
    sum += std::polar(window, -phase);
  });
  return sum;
}

/// The definition: cells of the first mesh, and of the second, at the positions where they are.
ModeFunction interlaced_by_cells(const Grid& grid, const std::vector<double>& first,
                                 const std::vector<double>& second) {
  return [&](const GridIndex& mode) {
    std::complex<double> sum;
    std::size_t i = 0;
    for_cells(grid.index_box(), [&](const GridIndex& cell) {
      double phase = 0;
      double half = 0;
      for (int axis = 0; axis < 3; ++axis) {
        phase += k_along(grid, mode, axis) * static_cast<double>(cell[axis]) * grid.spacing(axis);
        half += k_along(grid, mode, axis) * 0.5 * grid.spacing(axis);
      }
      sum += 0.5 * (first[i] * std::polar(1.0, -phase));
      sum += 0.5 * (second[i++] * std::polar(1.0, -phase - half));
    });
    return mode == GridIndex{} ? 0 : sum / static_cast<double>(grid.size());
  };
}

/// Cells of a painted point_set in units of the mean, on one rank.
std::vector<double> painted_alone(const Points& point_set, const PaintOptions& options) {
  Context alone;
  alone.exec = host_exec(1);
  Field<double> field(alone, Decomposition(point_set.grid, 1));
  const Points::Part all = part_of(alone, point_set);
  to_mean_units(alone, field, paint(alone, all.particles, field, options).mean());
  return read_field(alone, field);
}

/// Expected relative deviation of a bin's power, from its n independent modes.
double scatter(const PowerBin& bin) { return std::sqrt(2 / static_cast<double>(bin.num_modes)); }

/// The power of the particles themselves, without a mesh.
double true_power(const Points& point_set, const PowerBin& bin) {
  double sum = 0;
  Index num = 0;
  const Index top = 16;
  for_cells({{{-top, -top, -top}}, {{top, top, top}}}, [&](const GridIndex& n) {
    double k2 = 0;
    GridIndex mode = n;
    for (int axis = 0; axis < 3; ++axis) {
      const double k =
          2 * std::numbers::pi * static_cast<double>(n[axis]) / point_set.grid.box.length[axis];
      k2 += k * k;
      mode[axis] = (n[axis] + point_set.grid.num[axis]) % point_set.grid.num[axis];
    }
    if (std::sqrt(k2) < bin.k_lo * (1 - 1e-9) || std::sqrt(k2) >= bin.k_hi * (1 - 1e-9)) return;
    sum += std::norm(mode_of_points(point_set, mode));
    ++num;
  });
  return point_set.grid.box.volume() * sum / static_cast<double>(num);
}

}  // namespace

TEST_CASE("density: values in units of the mean, and overdensities, of own cells only") {
  const Context context = make_context();
  const Decomposition decomposition(box_grid({{5, 6, 3}}, {{1, 2, 3}}), context.comm.size());
  Field<float> field(context, decomposition, Ghosts::all_around(1));
  write_field(context, field, std::vector<float>(static_cast<std::size_t>(field.layout().size), 7));
  set_cells(context, field, [](const GridIndex& cell) { return 3 + noise_at(cell); });
  const auto ghosts = [&] {
    const std::vector<float> values = read_field(context, field);
    double sum = 0;
    for_cells(field.layout().index_box, [&](const GridIndex& cell) {
      if (!field.cells().contains(cell))
        sum += std::abs(values[static_cast<std::size_t>(field.layout().offset(cell))] - 7.0F);
    });
    return sum;
  };
  to_mean_units(context, field, 4);
  CHECK(difference(context, field, [](const GridIndex& cell) {
          return (3 + noise_at(cell)) / 4;
        }) <= tolerance_of<float>);
  to_overdensity(context, field, 0.5);
  CHECK(difference(context, field, [](const GridIndex& cell) {
          return (3 + noise_at(cell)) / 2 - 1;
        }) <= tolerance_of<float>);
  CHECK(ghosts() == 0);
  for (const double mean : {0.0, -1.0, std::nan("")}) {
    CHECK_THAT(input_error_of(context, [&] { to_overdensity(context, field, mean); }),
               Contains("must be more than 0"));
    CHECK_THAT(input_error_of(context, [&] { to_mean_units(context, field, mean); }),
               Contains("must be more than 0"));
  }
}

TEMPLATE_TEST_CASE("density: interlaced modes are the sum over the cells of both meshes", "", float,
                   double) {
  const Context context = make_context();
  const Grid grid = box_grid({{6, 5, 8}}, {{3, 5, 2}});
  Points point_set = points(grid, 60);
  for (std::size_t i = 0; i < point_set.mass.size(); ++i)
    point_set.mass[i] = 1 + 0.1 * static_cast<double>(i);
  const Points::Part part = part_of(context, point_set);
  for (const Window window : {Window::ngp, Window::cic, Window::tsc, Window::pcs}) {
    const std::vector<double> first = painted_alone(point_set, {.window = window});
    const std::vector<double> second =
        painted_alone(point_set, {.window = window, .shift = {{0.5, 0.5, 0.5}}});
    for (const Decomposition& decomposition : decompositions_of(context, grid)) {
      const DensityModes<TestType> plain = density_modes<TestType>(
          context, decomposition, part.particles, {.paint = {.window = window}});
      CHECK(difference(context, plain.modes, interlaced_by_cells(grid, first, second)) >= 0.01);
      const DensityModes<TestType> both =
          density_modes<TestType>(context, decomposition, part.particles,
                                  {.paint = {.window = window}, .interlaced = true});
      CHECK(difference(context, both.modes, interlaced_by_cells(grid, first, second)) <=
            5 * tolerance_of<TestType>);
      CHECK(both.report.num_particles == 60);
      CHECK(both.report.sum == Approx(60 + 0.1 * 59 * 30));
    }
  }
}

TEST_CASE("density: of a particle's images interlacing leaves those that are even") {
  const Context context = make_context();
  const Grid grid = box_grid({{8, 6, 5}}, {{3, 5, 2}});
  Points point_set{grid, {0.13, 3.3, 8.123}, {2.5}};
  const Points::Part part = part_of(context, point_set);
  const Decomposition decomposition(grid, context.comm.size());
  for (const bool interlaced : {false, true}) {
    const DensityModes<double> density =
        density_modes<double>(context, decomposition, part.particles,
                              {.paint = {.window = Window::pcs}, .interlaced = interlaced});
    CHECK(difference(context, density.modes, [&](const GridIndex& mode) {
            return mode == GridIndex{} ? 0
                                       : images_of(grid, mode, point_set.pos.data(), interlaced);
          }) <= 1e-4);
  }
}

TEST_CASE("density: compensated modes are those of the particles themselves") {
  const Context context = make_context();
  const Grid grid = box_grid({{16, 12, 16}}, {{3, 5, 2}});
  const Points point_set = points(grid, 50);
  const Points::Part part = part_of(context, point_set);
  const Decomposition decomposition(grid, context.comm.size());
  const DensityOptions options{
      .paint = {.window = Window::pcs}, .interlaced = true, .compensation = Compensation::window};
  const DensityModes<double> density =
      density_modes<double>(context, decomposition, part.particles, options);
  double largest = 0;
  visit_modes(
      context, density.modes, [&](const GridIndex& mode, const std::complex<double>& value) {
        bool is_long = mode != GridIndex{};
        for (int axis = 0; axis < 3; ++axis)
          is_long =
              is_long && 4 * std::abs(waves_along(mode[axis], grid.num[axis])) <= grid.num[axis];
        const double apart = is_long ? std::abs(value - mode_of_points(point_set, mode)) : 0;
        largest = apart <= largest
                      ? largest
                      : (std::isnan(apart) ? std::numeric_limits<double>::infinity() : apart);
      });
  CHECK(context.comm.max(largest) <= 1e-3);
  CHECK(context.comm.max(largest) > 0);
}

TEST_CASE("density: random points have the power of shot noise, flat when compensated for it") {
  const Context context = make_context();
  const Grid grid = Grid::cube(16, 100.0);
  const Points point_set = points(grid, 3000);
  const Points::Part part = part_of(context, point_set);
  const Decomposition decomposition(grid, context.comm.size());
  for (const Window window : {Window::ngp, Window::cic, Window::tsc, Window::pcs}) {
    DensityOptions options{.paint = {.window = window}};
    const DensityModes<double> plain =
        density_modes<double>(context, decomposition, part.particles, options);
    options.compensation = Compensation::shot_noise;
    const DensityModes<double> flat =
        density_modes<double>(context, decomposition, part.particles, options);
    const double expected = shot_noise(flat.report, grid);
    CHECK(expected == Approx(1e6 / 3000));
    const PowerOptions to_corners{.bins = {.k_max = 0.9, .width = 0.1}};
    for (const PowerBin& bin : power_spectrum(context, flat.modes, to_corners).bins)
      CHECK(std::abs(bin.power / expected - 1) <= 5 * scatter(bin));
    const PowerBin last = power_spectrum(context, plain.modes, to_corners).bins.back();
    CHECK((window == Window::ngp || last.power < 0.5 * expected));
  }
}

TEST_CASE(
    "density: interlaced CIC comes close to the particles' own power, as PCS does on twice as many "
    "cells a side") {
  const Context context = make_context();
  const Grid coarse = Grid::cube(16, 100.0);
  const Points point_set = points(Grid::cube(32, 100.0), 400, 0.5);
  const Points::Part part = part_of(context, point_set);
  const auto spectrum = [&](const Grid& grid, const DensityOptions& options) {
    const Decomposition decomposition(grid, context.comm.size());
    const DensityModes<double> density =
        density_modes<double>(context, decomposition, part.particles, options);
    return power_spectrum(context, density.modes, {.bins = {.k_max = 0.4}})
        .bins;  // 4/5 of the coarse grid's Nyquist frequency
  };
  DensityOptions cic{.paint = {.window = Window::cic}, .compensation = Compensation::window};
  const std::vector<PowerBin> plain = spectrum(coarse, cic);
  cic.interlaced = true;
  const std::vector<PowerBin> interlaced = spectrum(coarse, cic);
  const std::vector<PowerBin> pcs = spectrum(
      point_set.grid, {.paint = {.window = Window::pcs}, .compensation = Compensation::window});
  REQUIRE(interlaced.size() == pcs.size());
  for (std::size_t i = 0; i < pcs.size(); ++i) {
    const double truth = true_power(point_set, pcs[i]);
    CHECK(pcs[i].power == Approx(truth).epsilon(1e-3));
    CHECK(interlaced[i].power == Approx(truth).epsilon(0.015));
  }
  CHECK(plain.back().power > 1.04 * pcs.back().power);
}

TEST_CASE("density: bad input is one error on all ranks", "[small]") {
  const Context context = make_context();
  const Decomposition decomposition(Grid::cube(8), context.comm.size());
  Points point_set = points(Grid::cube(8), 20);
  const auto error_of = [&](const DensityOptions& options) {
    const Points::Part part = part_of(context, point_set);
    return input_error_of(
        context, [&] { density_modes<float>(context, decomposition, part.particles, options); });
  };
  CHECK_THAT(error_of({.paint = {.shift = {{0.5, 0.5, 0.5}}}}), Contains("shift must be 0"));
  CHECK_THAT(error_of({.paint = {.weights = Weights::column}}), Contains("column"));
  for (double& mass : point_set.mass) mass = 0;
  CHECK_THAT(error_of({}), Contains("sum to 0"));
}

TEST_CASE("density: boxes that are not periodic have no modes, spectra or potentials", "[small]") {
  const Context context = make_context();
  for (int axis = 0; axis < 3; ++axis) {
    Grid grid = box_grid({{6, 5, 8}}, {{3, 5, 2}});
    grid.box.periodic[axis] = false;
    const Decomposition decomposition(grid, context.comm.size());
    const Points point_set = points(grid, 60);
    const Points::Part part = part_of(context, point_set);
    const Modes<double> modes(context, decomposition);
    const std::string words = std::string("not periodic along ") + "xyz"[axis];
    const auto check = [&](const auto& work) {
      CHECK_THAT(input_error_of(context, work), Contains(words));
    };
    check([&] { density_modes<double>(context, decomposition, part.particles); });
    check([&] { power_spectrum(context, modes); });
    check([&] { potential_at(context, modes, part.particles); });
    check([&] { acceleration_at(context, modes, part.particles); });
    check([&] { acceleration_fields(context, modes); });
    check([&] { displace(context, modes); });
    check([&] { first_order_displacement(context, modes); });
    check([&] { second_order_displacement(context, modes); });
  }
}
