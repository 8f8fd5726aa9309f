/// Density modes, potentials and accelerations of a domain are those of its particles.
#include <catch2/catch.hpp>

#include "tests/mpi/domain/analysed.hpp"
#include "zhalo/mesh/density.hpp"
#include "zhalo/mesh/gravity.hpp"

using namespace zhalo;
using namespace zhalo::testing;

TEST_CASE("density modes and accelerations of a domain are those of the particles", "[small]") {
  Analysed a(800);
  const Context& context = a.context;
  const Domain<float> domain(context, a.particles, a.points.box);
  const Decomposition decomposition(Grid{{{8, 9, 10}}, a.points.box}, context.comm.size());
  const DensityOptions options{.interlaced = true, .compensation = Compensation::window};
  const DensityModes<double> ours = density_modes<double>(domain, decomposition, options);
  const DensityModes<double> expected =
      density_modes<double>(context, decomposition, a.particles, options);
  CHECK(ours.report.sum == 800);
  CHECK(to_host(context.exec, ours.modes.span()) == to_host(context.exec, expected.modes.span()));
  const BoxLayout& layout = ours.modes.layout();
  if (layout.index_box.contains({}))  // whatever rounding left of the mean
    CHECK(ours.modes.span()[layout.offset({})] == 0.0);

  CHECK(returned(domain, potential_at(domain, ours.modes)) ==
        to_host(context.exec, potential_at(context, ours.modes, a.particles)));
  const auto pull = acceleration_at(domain, ours.modes);
  const auto pull_expected = acceleration_at(context, ours.modes, a.particles);
  for (std::size_t axis = 0; axis < 3; ++axis)
    CHECK(returned(domain, pull[axis]) == to_host(context.exec, pull_expected[axis]));
  CHECK_THROWS_AS(density_modes<double>(domain, decomposition, {}, 1), InputError);
  CHECK_THROWS_AS(potential_at(domain, ours.modes, {}, -1), InputError);
  CHECK_THROWS_AS(acceleration_at(domain, ours.modes, {}, 1), InputError);
}
