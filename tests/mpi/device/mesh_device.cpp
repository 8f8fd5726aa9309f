/// Fields in memory of a CUDA device: as on the host. Skipped visibly without a device.
#include "tests/mpi/device/find_device.hpp"
#include "tests/mpi/ics/lpt_case.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;

}  // namespace

TEST_CASE("device: fields move from any layout to any other") {
  CommunicatorOptions options;
  SECTION("as it is") {}
  SECTION("in short messages") { options.chunk_bytes = 1000; }
  Context context;
  if (!find_device(context, options)) return;
  check_redistributions(context, {{{7, 10, 12}}, Box::periodic_cube(1)});
}

TEST_CASE("device: ghosts are pulled and pushed") {
  Context context;
  if (!find_device(context)) return;
  for (const std::array<int, 2>& shape : shapes_of(context.comm.size())) {
    const Decomposition decomposition({{{6, 5, 4}}, Box::periodic_cube(1)}, context.comm.size(),
                                      {.shape = shape});
    for (const Ghosts& ghosts : {Ghosts::all_around(1), Ghosts::all_around(6),
                                 Ghosts{{{3, 1, 9}}, {{2, 7, 1}}, {{true, false, true}}}}) {
      check_pull<std::complex<float>>(context, decomposition, ghosts);
      check_push<std::int32_t>(context, decomposition, ghosts);
      check_push<double>(context, decomposition, ghosts);
      check_push<std::complex<double>>(context, decomposition, ghosts);
      check_adjoint(context, decomposition, ghosts);
    }
  }
}

TEST_CASE("device: displacements of plane waves, and random fields") {
  Context context;
  if (!find_device(context)) return;
  const Grid grid = grid_of({{12, 10, 14}}, {{10, 12, 8}});
  const Decomposition decomposition(grid, context.comm.size());
  check_displacements<double>(context, decomposition, 1e-13);
  check_displacements<float>(context, decomposition, 1e-5);
  check_particles<double>(context, decomposition, 0.3, 2);
  check_particles<float>(context, decomposition, 0.3, 2);
  check_particles<double>(context, decomposition, 30, 1);

  Context host;
  host.comm = Communicator(MPI_COMM_WORLD);
  const LinearPower power({0.01, 0.1, 10}, {3, 20, 0.5});
  const Modes<double> expected = random_modes<double>(host, decomposition, power);
  const Modes<double> found = random_modes<double>(context, decomposition, power);
  CHECK((to_host(context.exec, found.span()) == to_host(host.exec, expected.span())));
}
