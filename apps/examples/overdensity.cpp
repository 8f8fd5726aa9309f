// From particles to their overdensity, its power spectrum and what it pulls at (docs/mesh.md).
//   mpirun -n 4 overdensity 32
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <vector>

#include "apps/examples/run_example.hpp"
#include "zhalo/comm/context.hpp"
#include "zhalo/mesh/density.hpp"
#include "zhalo/mesh/gravity.hpp"
#include "zhalo/mesh/power_spectrum.hpp"

namespace {

using zhalo::Index;
constexpr double length = 100;   // Mpc/h
constexpr double amplitude = 1;  // of the displacements
constexpr double wave_number = 2 * std::numbers::pi / length;

/// This rank's share of a lattice of side^3 particles, displaced along x by a sine wave.
std::vector<float> make_positions(const zhalo::Communicator& comm, Index side) {
  std::vector<float> positions;
  const zhalo::Share share = zhalo::share_of(side * side * side, comm.rank(), comm.size());
  const double spacing = length / static_cast<double>(side);
  for (Index i = share.first; i < share.first + share.count; ++i) {
    const Index row = i / side;
    const Index plane = row / side;
    const double x = (static_cast<double>(plane) + 0.25) * spacing;
    positions.push_back(static_cast<float>(x + amplitude * std::sin(wave_number * x)));
    positions.push_back(static_cast<float>((static_cast<double>(row % side) + 0.25) * spacing));
    positions.push_back(static_cast<float>((static_cast<double>(i % side) + 0.25) * spacing));
  }
  return positions;
}

// [filter]
/// Keeps the waves that are longer than 20 Mpc/h.
struct LongWaves {
  ZHALO_HD double operator()(const zhalo::Vec3d& k) const {
    const double limit = 2 * std::numbers::pi / 20;
    return k[0] * k[0] + k[1] * k[1] + k[2] * k[2] < limit * limit ? 1 : 0;
  }
};
// [filter]

void print_first(const zhalo::Context& context, const zhalo::PowerSpectrum& spectrum,
                 double noise) {
  if (context.comm.rank() != 0 || spectrum.bins.empty()) return;
  const zhalo::PowerBin& bin = spectrum.bins.front();
  std::printf("k %.4f h/Mpc: P %.2f (Mpc/h)^3, %lld modes; of random particles %.2f\n", bin.k_mean,
              bin.power, static_cast<long long>(bin.num_modes), noise);
}

void print_extremes(const zhalo::Context& context, const zhalo::Field<float>& overdensity,
                    const zhalo::Buffer<float>& pull) {
  double highest = -1;
  for (const float value : overdensity.span())
    highest = std::max(highest, static_cast<double>(value));
  double strongest = 0;
  for (const float value : pull.span())
    strongest = std::max(strongest, std::abs(static_cast<double>(value)));
  highest = context.comm.max(highest);
  strongest = context.comm.max(strongest);
  if (context.comm.rank() == 0)
    std::printf("highest overdensity %.4f, strongest pull %.4f\n", highest, strongest);
}

void run(const zhalo::Context& context, Index n) {
  const std::vector<float> positions = make_positions(context.comm, 2 * n);
  const auto num = static_cast<Index>(positions.size()) / 3;
  // [paint]
  zhalo::Particles<float> particles;  // views of this rank's positions, row by row; which rank has
                                      // which does not matter
  particles.segments.push_back(zhalo::ParticleSegment<float>::interleaved(positions.data(), num));

  const zhalo::Decomposition decomposition(zhalo::Grid::cube(n, 100.0),
                                           context.comm.size());  // 100 Mpc/h
  zhalo::Field<float> field(context, decomposition);
  const zhalo::PaintReport report =
      zhalo::paint(context, particles, field, {.window = zhalo::Window::tsc});
  zhalo::to_overdensity(context, field, report.mean());
  // [paint]
  // [modes]
  const zhalo::DensityOptions options{.paint = {.window = zhalo::Window::cic},
                                      .interlaced = true,
                                      .compensation = zhalo::Compensation::window};
  zhalo::DensityModes<float> density =
      zhalo::density_modes<float>(context, decomposition, particles, options);
  // [modes]
  // [power]
  const zhalo::PowerSpectrum spectrum =
      zhalo::power_spectrum(context, density.modes, {.bins = {.k_max = 0.5}, .multipole_axis = 2});
  const double noise = zhalo::shot_noise(density.report, decomposition.grid());  // not subtracted
  // [power]
  // [gravity]
  zhalo::filter(context, density.modes, LongWaves{});
  const zhalo::GravityOptions gravity{.laplacian = zhalo::Laplacian::exact,
                                      .derivative = zhalo::Derivative::fd4};
  const auto pull = zhalo::acceleration_at(context, density.modes, particles,
                                           gravity);  // times 3/2 Omega_m H0^2 / a^2
  // [gravity]
  print_first(context, spectrum, noise);
  print_extremes(context, field, pull[0]);
}

}  // namespace

int main(int argc, char** argv) { return run_example(argc, argv, 32, run); }
