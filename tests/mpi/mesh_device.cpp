/// Fields in memory of a CUDA device: as on the host. Skipped visibly without a device.
#include "tests/mpi/find_device.hpp"
#include "tests/mpi/mesh_case.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;

}  // namespace

TEST_CASE("device: fields move from any partition to any other") {
  CommunicatorOptions options;
  SECTION("as it is") {}
  SECTION("staged, in short messages") {
    options.transport = Transport::staged;
    options.chunk_bytes = 1000;
  }
  Context context;
  if (!find_device(context, options)) return;
  check_transposes(context, {{{7, 10, 12}}, Box::periodic_cube(1)});
}

TEST_CASE("device: ghosts are pulled and pushed") {
  Context context;
  if (!find_device(context)) return;
  for (const std::array<int, 2>& shape : shapes_of(context.comm.size())) {
    const Decomposition decomposition({{{6, 5, 4}}, Box::periodic_cube(1)}, context.comm.size(), {.shape = shape});
    for (const Ghosts& ghosts :
         {Ghosts::all_around(1), Ghosts::all_around(6), Ghosts{{{3, 1, 9}}, {{2, 7, 1}}, {{true, false, true}}}}) {
      check_pull<std::complex<float>>(context, decomposition, ghosts);
      check_push<std::int32_t>(context, decomposition, ghosts);
      check_push<double>(context, decomposition, ghosts);
      check_push<std::complex<double>>(context, decomposition, ghosts);
      check_adjoint(context, decomposition, ghosts);
    }
  }
}
