/// Potentials and accelerations against formulas of waves, and against the equations that they
/// solve.
#include "zhalo/mesh/gravity.hpp"

#include <algorithm>
#include <utility>

#include "tests/mpi/mesh/density_case.hpp"
#include "zhalo/mesh/density.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;

}  // namespace

TEST_CASE("gravity: potentials and accelerations of a wave, at cells and at points", "[small]") {
  const Context context = make_context();
  const Grid grid = box_grid({{12, 10, 9}}, {{3, 5, 2}});
  const Decomposition decomposition(grid, context.comm.size());
  const Wave wave{grid, {{2, -1, 3}}, 0.3};
  const Modes<double> source = modes_of<double>(context, decomposition, [&](const GridIndex& cell) {
    return wave.k2() * std::cos(wave.angle(cell));
  });
  const std::array<Field<double>, 3> fields = acceleration_fields(context, source);
  Points cells{grid, {}, {}};
  for (const GridIndex& cell :
       {GridIndex{{0, 0, 0}}, GridIndex{{11, 3, 8}}, GridIndex{{5, 9, 2}}}) {
    for (int axis = 0; axis < 3; ++axis)
      cells.pos.push_back(grid.box.lo[axis] +
                          (static_cast<double>(cell[axis]) + 0.5) * grid.spacing(axis));
    cells.mass.push_back(1);
  }
  const Share share = share_of(cells.num(), context.comm.rank(), context.comm.size());
  const Points::Part part = cells.part(share);
  const std::vector<double> potential =
      to_host(context.exec, potential_at(context, source, part.particles));
  const std::array<Buffer<double>, 3> at_points = acceleration_at(context, source, part.particles);
  for (int axis = 0; axis < 3; ++axis) {
    // The potential is - cos, its slope k sin.
    const CellFunction pull = [&](const GridIndex& cell) {
      return -wave.k(axis) * std::sin(wave.angle(cell));
    };
    CHECK(difference(context, fields[static_cast<std::size_t>(axis)], pull) <= 1e-12);
    const std::vector<double> values =
        to_host(context.exec, at_points[static_cast<std::size_t>(axis)]);
    for (Index i = 0; i < share.count; ++i) {
      const GridIndex cell =
          decomposition.cell_of({{part.pos[static_cast<std::size_t>(3 * i)],
                                  part.pos[static_cast<std::size_t>(3 * i + 1)],
                                  part.pos[static_cast<std::size_t>(3 * i + 2)]}});
      CHECK(values[static_cast<std::size_t>(i)] == Approx(pull(cell)).margin(1e-12));
      CHECK(potential[static_cast<std::size_t>(i)] ==
            Approx(-std::cos(wave.angle(cell))).margin(1e-12));
    }
  }
}

TEST_CASE("gravity: the options are those of the Poisson equation and of derivatives", "[small]") {
  const Context context = make_context();
  const Grid grid = box_grid({{12, 10, 9}}, {{3, 5, 2}});
  const Decomposition decomposition(grid, context.comm.size());
  const Wave wave{grid, {{2, -1, 3}}, 0.3};
  const auto source = [&] {
    return modes_of<double>(context, decomposition,
                            [&](const GridIndex& cell) { return std::cos(wave.angle(cell)); });
  };
  std::vector<double> largest;
  for (const int order : {0, 1, 2, 3}) {
    // Also the two of different orders.
    const auto laplacian = static_cast<Laplacian>(order % 3);
    const auto derivative = static_cast<Derivative>(order == 3 ? 2 : order);
    const auto pull = acceleration_fields(context, source(), {laplacian, derivative});
    for (int axis = 0; axis < 3; ++axis) {
      Modes<double> slope = source();
      solve_poisson(context, slope, laplacian);
      differentiate(context, slope, axis, derivative);
      Field<double> expected(context, decomposition);
      to_field(context, std::move(slope), expected);
      const std::vector<double> values = to_host(context.exec, std::as_const(expected).span());
      const CellFunction minus_slope = [&](const GridIndex& cell) {
        return -values[static_cast<std::size_t>(expected.layout().offset(cell))];
      };
      CHECK(difference(context, pull[static_cast<std::size_t>(axis)], minus_slope) <= 1e-12);
    }
    double size = 0;
    for (const double value : to_host(context.exec, pull[0].span()))
      size = std::max(size, std::abs(value));
    largest.push_back(context.comm.max(size));
  }
  std::sort(largest.begin(), largest.end());
  for (std::size_t i = 1; i < largest.size(); ++i) CHECK(largest[i] > 1.001 * largest[i - 1]);
}

TEST_CASE("gravity: particles that are painted and read with one window do not pull themselves") {
  const Context context = make_context();
  const Grid grid = box_grid({{12, 10, 9}}, {{3, 5, 2}});
  const Decomposition decomposition(grid, context.comm.size());
  const Points point_set = points(grid, 100, 0.1);
  const Points::Part part = part_of(context, point_set);
  for (const Window window : {Window::cic, Window::pcs}) {
    for (const int order : {0, 1, 2}) {
      const DensityModes<double> density = density_modes<double>(
          context, decomposition, part.particles, {.paint = {.window = window}});
      const GravityOptions options{static_cast<Laplacian>(order), static_cast<Derivative>(order),
                                   window};
      const std::array<Buffer<double>, 3> pull =
          acceleration_at(context, density.modes, part.particles, options);
      for (const Buffer<double>& along : pull) {
        double sum = 0;
        double magnitude = 0;
        for (const double value : to_host(context.exec, along)) {
          sum += value;
          magnitude += std::abs(value);
        }
        CHECK(context.comm.sum(magnitude) > 1);
        CHECK(std::abs(context.comm.sum(sum)) <= 1e-12 * context.comm.sum(magnitude));
      }
    }
  }
}
