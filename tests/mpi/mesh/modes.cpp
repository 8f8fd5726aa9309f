/// Modes, and what is done to them one by one: against waves, against differences of cells, against
/// each formula's definition.
#include "tests/mpi/mesh/modes_case.hpp"

#include <bit>
#include <map>

#include "tests/mpi/comm/agreed_error.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;
using Catch::Contains;

/// The value of a field at any index, from the other side where it is beyond the grid. Of all
/// ranks' cells.
template <class T>
class WholeField {
 public:
  WholeField(const Context& context, const Field<T>& field)
      : num_(field.decomposition().grid().num) {
    // Each cell is one rank's, and 0 has no bits: the sum of all is its value.
    std::vector<Index> bits(static_cast<std::size_t>(field.decomposition().grid().size()));
    visit_cells(context, field, [&](const GridIndex& cell, double value) {
      bits[index_of(cell)] = std::bit_cast<Index>(value);
    });
    context.comm.sum_in_place(bits);
    for (const Index value : bits) values_.push_back(std::bit_cast<double>(value));
  }

  double operator()(const GridIndex& cell) const { return values_[index_of(cell)]; }
  double along(GridIndex cell, int axis, Index by) const {
    cell[axis] += by;
    return (*this)(cell);
  }

 private:
  std::size_t index_of(const GridIndex& cell) const {
    Index sum = 0;
    for (int axis = 0; axis < 3; ++axis)
      sum = sum * num_[axis] + ((cell[axis] % num_[axis]) + num_[axis]) % num_[axis];
    return static_cast<std::size_t>(sum);
  }

  GridIndex num_;
  std::vector<double> values_;
};

double slope(const WholeField<double>& f, const Grid& grid, Derivative derivative,
             const GridIndex& cell, int axis) {
  const double h = grid.spacing(axis);
  const double near = f.along(cell, axis, 1) - f.along(cell, axis, -1);
  if (derivative == Derivative::fd2) return near / (2 * h);
  return (8 * near - (f.along(cell, axis, 2) - f.along(cell, axis, -2))) / (12 * h);
}

double curvature(const WholeField<double>& f, const Grid& grid, Laplacian laplacian,
                 const GridIndex& cell) {
  double sum = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const double h2 = grid.spacing(axis) * grid.spacing(axis);
    const double near = f.along(cell, axis, 1) + f.along(cell, axis, -1);
    const double far = f.along(cell, axis, 2) + f.along(cell, axis, -2);
    sum += laplacian == Laplacian::fd2 ? (near - 2 * f(cell)) / h2
                                       : (16 * near - far - 30 * f(cell)) / (12 * h2);
  }
  return sum;
}

double mean_of(const Grid& grid, const CellFunction& value) {
  double sum = 0;
  for_cells(grid.index_box(), [&](const GridIndex& cell) { sum += value(cell); });
  return sum / static_cast<double>(grid.size());
}

/// Each mode becomes itself times factor(k), k along the axes: on the field of noise.
template <class T, class Change>
void check_factor(const Context& context, const Decomposition& decomposition, const Change& change,
                  const std::function<double(const GridIndex&)>& factor) {
  Modes<T> modes = modes_of<T>(context, decomposition, noise_field());
  const Modes<T> before = copy_of(context, modes);
  change(modes);
  const std::vector<std::complex<T>> values = to_host(context.exec, before.span());
  double largest = 0;
  for_cells(before.layout().index_box,
            [&](const GridIndex& mode) { largest = std::max(largest, std::abs(factor(mode))); });
  const ModeFunction expected = [&](const GridIndex& mode) {
    return factor(mode) *
           std::complex<double>(values[static_cast<std::size_t>(before.layout().offset(mode))]);
  };
  CHECK(difference(context, modes, expected) <= context.comm.max(largest) * tolerance_of<T>);
}

/// Of all grids (on many ranks some), slabs and pencils in turn, of the first one both.
template <class Check>
void for_decompositions(const Context& context, const Check& check) {
  const std::vector<Grid> grids = odd_grids();
  for (std::size_t turn = 0; turn < grids.size(); turn += context.comm.size() <= 4 ? 1U : 4U) {
    const std::vector<Decomposition> all = decompositions_of(context, grids[turn]);
    for (std::size_t i = 0; i < all.size(); ++i) {
      INFO(all[i].describe());
      if (turn == 0 || i == turn % all.size()) check(all[i], grids[turn]);
    }
  }
}

double root_sum(const Grid& grid, const GridIndex& mode) {
  double sum = 0;
  for (int axis = 0; axis < 3; ++axis) sum += k_along(grid, mode, axis) * k_along(grid, mode, axis);
  return std::sqrt(sum);
}

/// Power that a window leaves of white noise along an axis: its images' squares, summed.
double sum_of_images(double half_phase, int order) {
  double sum = 0;
  for (int image = 3000; image > 0; --image)
    sum += std::pow(sinc(half_phase + image * std::numbers::pi), 2 * order) +
           std::pow(sinc(half_phase - image * std::numbers::pi), 2 * order);
  return sum + std::pow(sinc(half_phase), 2 * order);
}

/// A filter of the caller's own.
struct BelowFive {
  ZHALO_HD double operator()(const Vec3d& k) const {
    return k[0] * k[0] + k[1] * k[1] + k[2] * k[2] < 25 ? 2 + k[1] : 0;
  }
};

}  // namespace

TEMPLATE_TEST_CASE("modes: a wave is its mode, and comes back, whatever ghosts there are", "",
                   float, double) {
  const Context context = make_context();
  const Grid grid = box_grid({{8, 6, 9}}, {{3, 5, 2}});
  for (const Decomposition& decomposition : decompositions_of(context, grid)) {
    const Wave wave{grid, {{3, -2, 4}}, 0.4};
    const CellFunction value = [&](const GridIndex& cell) {
      return 2 + 3 * std::cos(wave.angle(cell));
    };
    const Modes<TestType> modes =
        modes_of<TestType>(context, decomposition, value, Ghosts::all_around(2));
    const std::complex<double> amplitude = std::polar(1.5, wave.angle({}));
    CHECK(difference(context, modes, [&](const GridIndex& mode) -> std::complex<double> {
            if (mode == GridIndex{}) return 2;
            return mode == GridIndex{{3, 4, 4}} ? amplitude : 0;
          }) <= tolerance_of<TestType>);
    CHECK(difference(context, field_of(context, modes), value) <= tolerance_of<TestType>);
    CHECK(difference(context,
                     field_of(context, copy_of(context, modes), {{{0, 1, 3}}, {{2, 0, 0}}}),
                     value) <= tolerance_of<TestType>);
    for (const Index ghosts : {0, 1}) {
      Field<TestType> field(context, decomposition, Ghosts::all_around(ghosts));
      to_field(context, copy_of(context, modes), field);
      CHECK(difference(context, field, value) <= tolerance_of<TestType>);
    }
  }
}

TEMPLATE_TEST_CASE("modes: scaled and added", "", float, double) {
  const Context context = make_context();
  for_decompositions(context, [&](const Decomposition& decomposition, const Grid&) {
    Modes<TestType> modes = modes_of<TestType>(context, decomposition, noise_field(1));
    const Modes<TestType> other = modes_of<TestType>(context, decomposition, noise_field(2));
    scale(context, modes, -3);
    add(context, modes, other, 0.5);
    add(context, modes, other);
    CHECK(difference(context, field_of(context, modes), [](const GridIndex& cell) {
            return -3 * noise_at(cell, 1) + 1.5 * noise_at(cell, 2);
          }) <= 5 * tolerance_of<TestType>);
  });
}

TEMPLATE_TEST_CASE("modes: each mode is multiplied by the factor of its definition", "", float,
                   double) {
  const Context context = make_context();
  for_decompositions(context, [&](const Decomposition& decomposition, const Grid& grid) {
    using M = Modes<TestType>;
    const auto check = [&](const auto& change,
                           const std::function<double(const GridIndex&)>& factor) {
      check_factor<TestType>(context, decomposition, change, factor);
    };
    check([&](M& modes) { smooth_gaussian(context, modes, 0.3); },
          [&](const GridIndex& mode) {
            return std::exp(-0.5 * std::pow(0.3 * root_sum(grid, mode), 2));
          });
    for (const double radius : {0.0, 0.01, 0.7}) {
      check([&](M& modes) { smooth_top_hat(context, modes, radius); },
            [&](const GridIndex& mode) {
              const long double x = static_cast<long double>(radius * root_sum(grid, mode));
              return x == 0
                         ? 1
                         : static_cast<double>(3 * (std::sin(x) - x * std::cos(x)) / (x * x * x));
            });
    }
    check([&](M& modes) { remove_nyquist(context, modes); },
          [&](const GridIndex& mode) {
            bool is_left = true;
            for (int axis = 0; axis < 3; ++axis)
              is_left = is_left && 2 * mode[axis] != grid.num[axis];
            return is_left ? 1 : 0;
          });
    check([&](M& modes) { filter(context, modes, BelowFive{}); },
          [&](const GridIndex& mode) {
            return root_sum(grid, mode) < 5 ? 2 + k_along(grid, mode, 1) : 0;
          });
  });
}

TEST_CASE(
    "modes: compensation divides by the window, or by what window and aliases leave of white "
    "noise") {
  const Context context = make_context();
  for (const Grid& grid :
       {box_grid({{8, 6, 10}}, {{3, 5, 2}}), box_grid({{5, 3, 2}}, {{1, 1, 4}})}) {
    const Decomposition decomposition(grid, context.comm.size());
    for (const Window window : {Window::ngp, Window::cic, Window::tsc, Window::pcs}) {
      const auto over_axes = [&](const GridIndex& mode, const auto& factor) {
        double product = 1;
        for (int axis = 0; axis < 3; ++axis)
          product *= factor(k_along(grid, mode, axis) * grid.spacing(axis) / 2);
        return product;
      };
      check_factor<double>(
          context, decomposition,
          [&](Modes<double>& modes) { compensate(context, modes, window, Compensation::window); },
          [&](const GridIndex& mode) {
            return 1 /
                   over_axes(mode, [&](double x) { return std::pow(sinc(x), order_of(window)); });
          });
      check_factor<double>(
          context, decomposition,
          [&](Modes<double>& modes) { compensate(context, modes, window, Compensation::none); },
          [](const GridIndex&) { return 1.0; });
      // The images' sum is cut off: that of NGP, which falls slowest, is short by 2 / (pi^2 3000).
      std::map<double, double> power_at;
      const auto power_along = [&](double x) {
        return power_at.contains(x) ? power_at[x]
                                    : power_at[x] = sum_of_images(x, order_of(window));
      };
      Modes<double> modes = modes_of<double>(context, decomposition, noise_field());
      const Modes<double> before = copy_of(context, modes);
      compensate(context, modes, window, Compensation::shot_noise);
      const std::vector<std::complex<double>> values = to_host(context.exec, before.span());
      CHECK(difference(context, modes, [&](const GridIndex& mode) {
              return values[static_cast<std::size_t>(before.layout().offset(mode))] /
                     std::sqrt(over_axes(mode, power_along));
            }) <= (window == Window::ngp ? 3e-4 : 1e-10));
    }
  }
}

TEST_CASE("modes: derivatives of waves, and of noise as differences of cells") {
  const Context context = make_context();
  for_decompositions(context, [&](const Decomposition& decomposition, const Grid& grid) {
    const Modes<double> noise = modes_of<double>(context, decomposition, noise_field());
    const WholeField<double> whole(context, field_of(context, noise));
    for (int axis = 0; axis < 3; ++axis) {
      const double steepest = 10 / grid.spacing(axis) * tolerance_of<double>;
      for (const Derivative derivative : {Derivative::fd2, Derivative::fd4}) {
        Modes<double> modes = copy_of(context, noise);
        differentiate(context, modes, axis, derivative);
        CHECK(difference(context, field_of(context, modes), [&](const GridIndex& cell) {
                return slope(whole, grid, derivative, cell, axis);
              }) <= steepest);
      }
      // The steepest wave of each axis whose sign is defined, and a Nyquist wave, whose slope
      // becomes 0.
      Wave wave{grid, {}, 0.7};
      for (int i = 0; i < 3; ++i) wave.waves[i] = (grid.num[i] - 1) / 2;
      const Index nyquist = grid.num[axis] % 2 == 0 ? 1 : 0;
      Modes<double> modes = modes_of<double>(context, decomposition, [&](const GridIndex& cell) {
        return std::sin(wave.angle(cell)) +
               static_cast<double>(nyquist * (1 - 2 * (cell[axis] % 2)));
      });
      differentiate(context, modes, axis);
      CHECK(difference(context, field_of(context, modes), [&](const GridIndex& cell) {
              return wave.k(axis) * std::cos(wave.angle(cell));
            }) <= steepest);
    }
  });
}

TEST_CASE("modes: an exact derivative is 0 at the Nyquist frequency of its axis") {
  const Context context = make_context();
  const Decomposition decomposition(box_grid({{8, 6, 10}}, {{3, 5, 2}}), context.comm.size());
  for (int axis = 0; axis < 3; ++axis) {
    Modes<double> modes = modes_of<double>(context, decomposition, noise_field());
    differentiate(context, modes, axis, Derivative::exact);
    visit_modes(context, modes, [&](const GridIndex& mode, const std::complex<double>& value) {
      if (2 * mode[axis] == decomposition.grid().num[axis]) CHECK(value == 0.0);
    });
  }
}

TEST_CASE("modes: potentials of waves, and of noise by differences of cells") {
  const Context context = make_context();
  for_decompositions(context, [&](const Decomposition& decomposition, const Grid& grid) {
    const double mean = mean_of(grid, noise_field());
    for (const Laplacian laplacian : {Laplacian::fd2, Laplacian::fd4}) {
      Modes<double> modes = modes_of<double>(context, decomposition, noise_field());
      solve_poisson(context, modes, laplacian);
      const WholeField<double> potential(context, field_of(context, modes));
      const Modes<double> source = modes_of<double>(
          context, decomposition,
          [&](const GridIndex& cell) { return curvature(potential, grid, laplacian, cell); });
      CHECK(difference(context, field_of(context, source),
                       [&](const GridIndex& cell) { return noise_at(cell) - mean; }) <= 1e-10);
      CHECK(std::abs(mean_of(grid, [&](const GridIndex& cell) { return potential(cell); })) <=
            1e-13);
    }
    Wave wave{grid, {}, 0.7};
    for (int i = 0; i < 3; ++i) wave.waves[i] = (grid.num[i] - 1) / 2;
    Modes<double> modes = modes_of<double>(context, decomposition, [&](const GridIndex& cell) {
      return 5 + wave.k2() * std::sin(wave.angle(cell));
    });
    solve_poisson(context, modes);
    // Errors of rounding in the source become largest in the longest waves.
    const double longest = std::max({grid.box.length[0], grid.box.length[1], grid.box.length[2]}) /
                           (2 * std::numbers::pi);
    CHECK(difference(context, field_of(context, modes), [&](const GridIndex& cell) {
            return wave.k2() > 0 ? -std::sin(wave.angle(cell)) : 0;
          }) <= (1 + wave.k2() * longest * longest) * tolerance_of<double>);
  });
}

TEST_CASE("modes: derivatives are antisymmetric, potentials symmetric") {
  const Context context = make_context();
  const Grid grid = box_grid({{12, 7, 6}}, {{3, 5, 2}});
  const Decomposition decomposition(grid, context.comm.size());
  const auto product = [&](const Modes<double>& modes, std::uint64_t seed) {
    double sum = 0;
    visit_cells(context, field_of(context, modes),
                [&](const GridIndex& cell, double value) { sum += value * noise_at(cell, seed); });
    return context.comm.sum(sum);
  };
  for (const int order :
       context.comm.size() <= 4 ? std::vector<int>{0, 1, 2} : std::vector<int>{2}) {
    for (int axis = 0; axis < 3; ++axis) {
      Modes<double> a = modes_of<double>(context, decomposition, noise_field(3));
      Modes<double> b = modes_of<double>(context, decomposition, noise_field(4));
      differentiate(context, a, axis, static_cast<Derivative>(order));
      differentiate(context, b, axis, static_cast<Derivative>(order));
      CHECK(product(a, 4) == Approx(-product(b, 3)).epsilon(1e-10));
    }
    Modes<double> a = modes_of<double>(context, decomposition, noise_field(3));
    Modes<double> b = modes_of<double>(context, decomposition, noise_field(4));
    solve_poisson(context, a, static_cast<Laplacian>(order));
    solve_poisson(context, b, static_cast<Laplacian>(order));
    CHECK(product(a, 4) == Approx(product(b, 3)).epsilon(1e-10));
    CHECK(product(a, 3) < 0);
  }
}

TEST_CASE("modes: bad input is one error on all ranks", "[small]") {
  const Context context = make_context();
  const int ranks = context.comm.size();
  const Decomposition decomposition(Grid::cube(4), ranks);
  Modes<double> modes = modes_of<double>(context, decomposition, noise_field());
  const Modes<double> other =
      modes_of<double>(context, Decomposition(Grid::cube(4, 2.0), ranks), noise_field());
  Field<double> larger(context, Decomposition(Grid::cube(5), ranks));
  CHECK_THAT(input_error_of(
                 context, [&] { Modes<double>(context, Decomposition(Grid::cube(4), ranks + 1)); }),
             Contains("ranks, but there are"));
  CHECK_THAT(input_error_of(context, [&] { to_field(context, modes, larger); }),
             Contains("different grids"));
  CHECK_THAT(input_error_of(context, [&] { to_field(context, copy_of(context, modes), larger); }),
             Contains("different grids"));
  CHECK_THAT(input_error_of(context, [&] { add(context, modes, other); }),
             Contains("different grids"));
  CHECK_THAT(input_error_of(context, [&] { differentiate(context, modes, 3); }),
             Contains("along axis 3"));
  const Grid no_length{{{4, 4, 4}}, Box::unbounded()};
  Modes<double> unbounded(context, Decomposition(no_length, ranks));
  for (const auto derivative : {Derivative::exact, Derivative::fd2, Derivative::fd4})
    CHECK_THAT(input_error_of(context, [&] { differentiate(context, unbounded, 0, derivative); }),
               Contains("length 0 along x"));
  CHECK_THAT(input_error_of(context, [&] { smooth_gaussian(context, modes, -1); }),
             Contains("radius -1"));
  CHECK_THAT(input_error_of(context, [&] { smooth_top_hat(context, modes, std::nan("")); }),
             Contains("radius nan"));
  CHECK_THAT(input_error_of(
                 context,
                 [&] { compensate(context, modes, static_cast<Window>(5), Compensation::window); }),
             Contains("order 5"));
  Modes<double> plane(context, Decomposition(Grid{{{4, 4, 1}}, Box::periodic_cube(1, 2)}, ranks));
  CHECK_THAT(
      input_error_of(context, [&] { filter(context, plane, [](const Vec3d&) { return 1.0; }); }),
      Contains("no axis 2 in a box of 2 dimensions"));
  CHECK_THAT(input_error_of(context, [&] { fundamental(no_length, 1); }),
             Contains("length 0 along y"));
  for (const int axis : {-1, 3})
    CHECK_THAT(input_error_of(context, [&] { fundamental(Grid::cube(4), axis); }),
               Contains("no axis"));
  Grid flat = Grid::cube(4);
  flat.box.dimensions = 2;
  CHECK_THAT(input_error_of(context, [&] { fundamental(flat, 2); }),
             Contains("no axis 2 in a box of 2 dimensions"));
}
