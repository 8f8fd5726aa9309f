/// Transforms of several ranks on a CUDA device (or several), against direct sums. Skipped visibly
/// without a device.
#include "tests/mpi/device/find_device.hpp"
#include "tests/mpi/fft/fft_case.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;

}  // namespace

TEST_CASE("device: transforms of every shape with every option") {
  Context context;
  if (!find_device(context)) return;
  const AllSignals signals({{9, 10, 12}}, 3);
  const std::vector<FftOptions> options = option_mix(context.exec);
  for (const DecompositionOptions& split : shapes(context.comm.size()))
    for (const FftOptions& each : options) signals.check_all(context, split, each);
}

TEST_CASE("device: transforms of uneven and empty shares, in short messages") {
  CommunicatorOptions options;
  SECTION("long messages") {}
  SECTION("short messages") { options.chunk_bytes = 1000; }
  Context context;
  if (!find_device(context, options)) return;
  for (const GridIndex& num : {GridIndex{{1, 1, 1}}, GridIndex{{2, 3, 2}}, GridIndex{{30, 17, 44}},
                               GridIndex{{3, 5, 100}}}) {
    const AllSignals signals(num);
    for (const DecompositionOptions& split : shapes(context.comm.size()))
      signals.check_all(context, split);
  }
}

TEST_CASE("device: transforms in the caller's workspace, full of NaN") {
  Context context;
  if (!find_device(context)) return;
  const Signals signals({{12, 10, 14}}, Signals::Kind::real);
  for (const DecompositionOptions& split : shapes(context.comm.size())) {
    FftRun<double> run(context, Decomposition(Grid{signals.num()}, context.comm.size(), split),
                       {.restore_order = true});
    check_in_workspace(run, signals);
  }
}

TEMPLATE_TEST_CASE("device: imaginary parts that a real field's modes cannot have count as 0", "",
                   float, double) {
  Context context;
  if (find_device(context)) check_imaginary_parts<TestType>(context);
}
