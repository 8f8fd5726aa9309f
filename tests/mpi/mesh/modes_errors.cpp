/// Options of modes that differ between ranks: the same error on all, who can go on.
#include "tests/mpi/comm/agreed_error.hpp"
#include "tests/mpi/mesh/modes_case.hpp"
#include "tests/mpi/mesh/paint_case.hpp"
#include "zhalo/mesh/density.hpp"

using namespace zhalo;
using namespace zhalo::testing;
using Catch::Contains;

TEST_CASE("density modes: ranks with different options are told so", "[small]") {
  const Context context = make_context({.timeout_seconds = 60});
  if (context.comm.size() == 1) return;
  const bool odd = context.comm.rank() == 1;
  const Grid grid = box_grid({{4, 6, 5}}, {{1, 2, 3}});
  const Decomposition decomposition(grid, context.comm.size());
  const Particles<float> none;
  const auto message = [&](const DensityOptions& options) {
    return input_error_of(context,
                          [&] { density_modes<double>(context, decomposition, none, options); });
  };
  const Compensation compensation = odd ? Compensation::window : Compensation::none;
  CHECK_THAT(message({.interlaced = odd}), Contains("options of density modes differ"));
  CHECK_THAT(message({.compensation = compensation}), Contains("options of density modes differ"));
  CHECK_THAT(message({.paint = {.window = odd ? Window::tsc : Window::cic}}),
             Contains("options of painting or the decomposition differ"));
}
