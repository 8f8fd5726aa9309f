/// Options of modes that differ between ranks: the same error on all, who can go on.
#include "tests/mpi/comm/agreed_error.hpp"
#include "tests/mpi/mesh/modes_case.hpp"
#include "tests/mpi/mesh/paint_case.hpp"
#include "zhalo/mesh/density.hpp"
#include "zhalo/mesh/gravity.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;
using Catch::Contains;

/// `work` with options of rank 1 alone.
template <class Work>
void check_gravity(const Context& context, const Work& work) {
  GravityOptions of_laplacian, of_derivative;
  if (context.comm.rank() == 1) of_laplacian.laplacian = Laplacian::fd2;
  if (context.comm.rank() == 1) of_derivative.derivative = Derivative::fd2;
  for (const GravityOptions& options : {of_laplacian, of_derivative})
    CHECK_THAT(input_error_of(context, [&] { work(options); }),
               Contains("options of potentials and accelerations differ"));
}

}  // namespace

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

TEST_CASE("density modes: particles of two dimensions are what is wrong", "[small]") {
  const Context context = make_context({.timeout_seconds = 60});
  const Grid grid{{{4, 6, 5}}, Box::periodic_cube(1, 2)};
  const Decomposition decomposition(grid, context.comm.size());
  Particles<float> flat;
  flat.dimensions = 2;
  CHECK_THAT(
      input_error_of(context, [&] { density_modes<double>(context, decomposition, flat); }),
      Contains("particles of 2 dimensions on a mesh (must have 3)") && !Contains("periodic"));
}

TEST_CASE("gravity: ranks with different options are told so", "[small]") {
  const Context context = make_context({.timeout_seconds = 60});
  if (context.comm.size() == 1) return;
  const Decomposition decomposition(Grid::cube(6), context.comm.size());
  const Modes<double> source = modes_of<double>(context, decomposition, noise_field());
  const Particles<float> none;
  check_gravity(context, [&](auto options) { potential_at(context, source, none, options); });
  check_gravity(context, [&](auto options) { acceleration_at(context, source, none, options); });
  check_gravity(context, [&](auto options) { acceleration_fields(context, source, options); });
}

TEST_CASE("modes: numbers that are no enumerators are errors", "[small]") {
  const Context context = make_context({.timeout_seconds = 60});
  const Decomposition decomposition(Grid::cube(4), context.comm.size());
  Modes<double> modes = modes_of<double>(context, decomposition, noise_field());
  const auto compensation = static_cast<Compensation>(3);
  CHECK_THAT(
      input_error_of(context, [&] { compensate(context, modes, Window::cic, compensation); }),
      Contains("the compensation is number 3, which is no enumerator"));
  const auto laplacian = static_cast<Laplacian>(3);
  CHECK_THAT(input_error_of(context, [&] { solve_poisson(context, modes, laplacian); }),
             Contains("the Laplacian is number 3"));
  const auto derivative = static_cast<Derivative>(-1);
  CHECK_THAT(input_error_of(context, [&] { differentiate(context, modes, 0, derivative); }),
             Contains("the derivative is number -1"));
}
