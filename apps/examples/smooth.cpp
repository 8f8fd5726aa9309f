// A field on a mesh: smoothed in Fourier space, then differentiated with ghosts (docs/fft.md).
//   mpirun -n 4 smooth 64
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>

#include "apps/examples/run_example.hpp"
#include "zhalo/comm/context.hpp"
#include "zhalo/fft/fft.hpp"
#include "zhalo/mesh/field.hpp"

namespace {

using zhalo::GridIndex;
using zhalo::Index;
constexpr double two_pi = 2 * std::numbers::pi;

/// Calls visit(index) for every cell or mode of an index box.
template <class Visit>
void for_each_in(const zhalo::IndexBox& index_box, const Visit& visit) {
  for (Index x = index_box.lo[0]; x < index_box.hi[0]; ++x)
    for (Index y = index_box.lo[1]; y < index_box.hi[1]; ++y)
      for (Index z = index_box.lo[2]; z < index_box.hi[2]; ++z) visit(GridIndex{{x, y, z}});
}

/// Wave number of a mode along an axis.
double wave_number(const zhalo::Grid& grid, const GridIndex& mode, int axis) {
  const Index n = grid.num[axis];
  const Index m = mode[axis] > n / 2 ? mode[axis] - n : mode[axis];
  return two_pi * static_cast<double>(m) / grid.box.length[axis];
}

// [smooth]
/// Replaces a field by its convolution with a Gaussian of width `radius`.
void smooth(const zhalo::Context& context, const zhalo::Decomposition& decomposition,
            zhalo::Span<double> cells, double radius) {
  zhalo::Fft<double> fft(context, decomposition);
  zhalo::Buffer<std::complex<double>> modes(context.exec, fft.modes().size, "modes");
  fft.forward(cells, modes.span());
  for_each_in(fft.modes().index_box, [&](const GridIndex& mode) {
    double k2 = 0;
    for (int axis = 0; axis < 3; ++axis)
      k2 += std::pow(wave_number(decomposition.grid(), mode, axis), 2);
    modes.span()[fft.modes().offset(mode)] *= std::exp(-0.5 * k2 * radius * radius);
  });
  fft.backward(modes.span(), cells);
}
// [smooth]

// [slope]
/// Largest derivative along x, by differences of neighbouring cells.
double steepest(const zhalo::Context& context, zhalo::Field<double>& field) {
  field.pull_ghosts();
  const double two_cells = 2 * field.decomposition().grid().spacing(0);
  double largest = 0;
  for_each_in(field.cells(), [&](const GridIndex& cell) {
    const double after = field.span()[field.layout().offset(cell + GridIndex{{1, 0, 0}})];
    const double before = field.span()[field.layout().offset(cell - GridIndex{{1, 0, 0}})];
    largest = std::max(largest, std::abs(after - before) / two_cells);
  });
  return context.comm.max(largest);
}
// [slope]

void run(const zhalo::Context& context, Index n) {
  // [mesh]
  const zhalo::Decomposition decomposition(zhalo::Grid::cube(n, 100.0),
                                           context.comm.size());  // 100 Mpc/h
  zhalo::Buffer<double> density(context.exec, decomposition.cells_layout(context.comm.rank()).size,
                                "density");
  // [mesh]
  const zhalo::BoxLayout cells = decomposition.cells_layout(context.comm.rank());
  const auto wave = [&](const GridIndex& cell) {
    return std::cos(two_pi * static_cast<double>(2 * cell[0] + cell[1]) / static_cast<double>(n));
  };
  for_each_in(cells.index_box,
              [&](const GridIndex& cell) { density.span()[cells.offset(cell)] = wave(cell); });
  smooth(context, decomposition, density.span(), 10.0);
  // [ghosts]
  zhalo::Field<double> field(context, decomposition, zhalo::Ghosts::all_around(1));
  for_each_in(cells.index_box, [&](const GridIndex& cell) {
    field.span()[field.layout().offset(cell)] = density.span()[cells.offset(cell)];
  });
  const double slope = steepest(context, field);
  // [ghosts]
  double amplitude = 0;
  for (const double value : density.span()) amplitude = std::max(amplitude, std::abs(value));
  amplitude = context.comm.max(amplitude);
  if (context.comm.rank() == 0)
    std::printf("amplitude %.6f, steepest slope %.6f\n", amplitude, slope);
}

}  // namespace

int main(int argc, char** argv) { return run_example(argc, argv, 64, run); }
