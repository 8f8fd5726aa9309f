/// Modes in memory of a CUDA device: as on the host. Skipped visibly without a device.
#include "tests/mpi/device/find_device.hpp"
#include "tests/mpi/mesh/modes_case.hpp"
#include "zhalo/mesh/density.hpp"
#include "zhalo/mesh/gravity.hpp"
#include "zhalo/mesh/power_spectrum.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;

/// What every function of modes leaves of the points' density, one after the other, and the pull at
/// the points.
struct Chain {
  std::vector<std::complex<double>> modes;
  PowerSpectrum spectrum;
  std::vector<double> pull;
};

Chain run_chain(const Context& context, const Decomposition& decomposition,
                const std::vector<double>& positions) {
  const Buffer<double> pos = to_exec(context.exec, Span<const double>(positions), "test");
  Particles<double> particles;
  particles.segments.push_back(ParticleSegment<double>::interleaved(pos.data(), pos.size() / 3));
  const DensityOptions options{.interlaced = true, .compensation = Compensation::window};
  DensityModes<double> density = density_modes<double>(context, decomposition, particles, options);
  remove_nyquist(context, density.modes);
  smooth_gaussian(context, density.modes, 0.05);
  smooth_top_hat(context, density.modes, 0.2);
  Modes<double> change = copy_of(context, density.modes);
  solve_poisson(context, change, Laplacian::fd4);
  differentiate(context, change, 1);
  scale(context, change, 2.5);
  add(context, density.modes, change, -0.5);
  Field<double> field(context, decomposition, Ghosts::all_around(1));
  to_field(context, density.modes, field);
  to_mean_units(context, field, 0.5);
  const Modes<double> doubled = to_modes(context, field);
  Chain chain;
  chain.modes = to_host(context.exec, doubled.span());
  chain.spectrum = cross_power_spectrum(context, density.modes, doubled,
                                        {.bins = {.k_max = 60.0}, .multipole_axis = 0});
  chain.pull = to_host(context.exec, acceleration_at(context, doubled, particles)[2]);
  return chain;
}

}  // namespace

TEST_CASE("device: modes, densities, spectra and forces are those of the host") {
  Context context;
  if (!find_device(context)) return;
  const Context on_host = host_context();
  const Grid grid = box_grid({{12, 10, 9}}, {{1, 2, 0.5}});
  Random random(static_cast<std::uint64_t>(context.comm.rank()) + 5);
  std::vector<double> positions;
  for (Index i = 0; i < 600; ++i)
    positions.push_back(grid.box.lo[static_cast<int>(i % 3)] + 0.5 * random.uniform());
  for (const Decomposition& decomposition : decompositions_of(context, grid)) {
    const Chain found = run_chain(context, decomposition, positions);
    const Chain expected = run_chain(on_host, decomposition, positions);
    REQUIRE(found.modes.size() == expected.modes.size());
    REQUIRE(found.pull.size() == expected.pull.size());
    for (std::size_t i = 0; i < expected.modes.size(); ++i)
      CHECK(std::abs(found.modes[i] - expected.modes[i]) <= 1e-12);
    for (std::size_t i = 0; i < expected.pull.size(); ++i)
      CHECK(found.pull[i] == Approx(expected.pull[i]).margin(1e-11));
    REQUIRE(found.spectrum.bins.size() == expected.spectrum.bins.size());
    for (std::size_t i = 0; i < expected.spectrum.bins.size(); ++i) {
      CHECK(found.spectrum.bins[i].num_modes == expected.spectrum.bins[i].num_modes);
      if (expected.spectrum.bins[i].num_modes == 0) continue;
      CHECK(found.spectrum.bins[i].power == Approx(expected.spectrum.bins[i].power).epsilon(1e-10));
      CHECK(found.spectrum.bins[i].multipoles[2] ==
            Approx(expected.spectrum.bins[i].multipoles[2]).epsilon(1e-8).margin(1e-12));
    }
  }
}
