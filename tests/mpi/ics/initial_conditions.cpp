/// Random fields, and the displacements of plane waves against their formulas.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <string>

#include "kernels/common/modes/portable.hpp"
#include "tests/mpi/comm/agreed_error.hpp"
#include "tests/mpi/comm/late_context.hpp"
#include "tests/mpi/ics/lpt_case.hpp"

using namespace zhalo;
using namespace zhalo::testing;

namespace {

using Complex = std::complex<double>;

const LinearPower& steep_power() {
  static const LinearPower power({0.01, 0.1, 10}, {3, 20, 0.5});
  return power;
}

template <class T>
std::complex<T> value_at(const Modes<T>& modes, const GridIndex& mode) {
  return modes.span()[modes.layout().offset(mode)];
}

GridIndex wave_of(const GridIndex& mode, const GridIndex& num) {
  return {{wave_index(mode[0], num[0]), wave_index(mode[1], num[1]), wave_index(mode[2], num[2])}};
}

bool is_nyquist(const GridIndex& mode, const GridIndex& num) {
  return 2 * mode[0] == num[0] || 2 * mode[1] == num[1] || 2 * mode[2] == num[2];
}

Modes<double> alone(const Grid& grid, const RandomFieldOptions& options = {}) {
  return random_modes<double>(Context{}, Decomposition(grid, 1), steep_power(), options);
}

/// k x of a wave in units of the fundamental, x being counted from the box's corner.
double angle_at(const Grid& grid, const GridIndex& wave, const Vec3d& position) {
  double angle = 0;
  for (int axis = 0; axis < 3; ++axis)
    angle += 2 * std::numbers::pi / grid.box.length[axis] * static_cast<double>(wave[axis]) *
             position[axis];
  return angle;
}

/// Middle of cell 0, from which the phases of modes count.
Vec3d first_middle(const Grid& grid) {
  return {{grid.spacing(0) / 2, grid.spacing(1) / 2, grid.spacing(2) / 2}};
}

/// A random field at a position: the sum over its waves up to `max_wave` along each axis.
double field_at(const Grid& grid, const GridIndex& max_wave, const Vec3d& position) {
  const Modes<double> modes = alone(grid);
  double sum = 0;
  for_cells(modes.layout().index_box, [&](const GridIndex& mode) {
    const GridIndex wave = wave_of(mode, grid.num);
    for (int axis = 0; axis < 3; ++axis) {
      if (std::abs(wave[axis]) > max_wave[axis]) return;
    }
    const double both = wave[2] == 0 ? 1 : 2;  // k and -k, which is not stored
    sum += both * (value_at(modes, mode) *
                   std::polar(1.0, angle_at(grid, wave, position - first_middle(grid))))
                      .real();
  });
  return sum;
}

}  // namespace

TEST_CASE("random field: Philox has the published numbers") {
  // Known answers of Random123, the authors' library: philox4x32 with 10 rounds.
  using kernels::philox;
  using Bits = kernels::PhiloxCounter;
  const std::uint32_t ones = 0xffffffff;
  CHECK(philox({{0, 0, 0, 0}}, {{0, 0}}) == Bits{{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}});
  CHECK(philox({{ones, ones, ones, ones}}, {{ones, ones}}) ==
        Bits{{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}});
  CHECK(philox({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, {{0xa4093822, 0x299f31d0}}) ==
        Bits{{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}});
}

TEST_CASE("random field: the same for any ranks, bit for bit") {
  const Context context = make_context();
  for (const GridIndex& num : {GridIndex{{12, 12, 12}}, GridIndex{{5, 9, 14}}, GridIndex{{1, 2, 3}},
                               GridIndex{{6, 1, 1}}}) {
    const Grid grid = grid_of(num, {{30, 20, 50}});
    const Modes<double> reference = alone(grid);
    for (const std::array<int, 2>& shape : shapes_of(context.comm.size())) {
      const Decomposition decomposition(grid, context.comm.size(), {.shape = shape});
      const auto modes = random_modes<double>(context, decomposition, steep_power());
      const auto single = random_modes<float>(context, decomposition, steep_power());
      for_cells(modes.layout().index_box, [&](const GridIndex& mode) {
        const Complex expected = value_at(reference, mode);
        CHECK(value_at(modes, mode) == expected);
        CHECK(value_at(single, mode) == std::complex<float>(expected));
      });
    }
  }
}

TEST_CASE("random field: grids of different sizes have their common modes in common") {
  const Vec3d length{{30, 24, 36}};
  const Grid large = grid_of({{16, 15, 20}}, length);
  const Modes<double> reference = alone(large);
  for (const GridIndex& num :
       {GridIndex{{8, 8, 8}}, GridIndex{{7, 12, 11}}, GridIndex{{16, 3, 2}}}) {
    const Grid grid = grid_of(num, length);
    const Modes<double> modes = alone(grid);
    Index compared = 0;
    for_cells(modes.layout().index_box, [&](const GridIndex& mode) {
      if (is_nyquist(mode, num)) return;
      const GridIndex wave = wave_of(mode, num);
      GridIndex there = wave;
      for (int axis = 0; axis < 3; ++axis)
        there[axis] = (there[axis] + large.num[axis]) % large.num[axis];
      if (is_nyquist(there, large.num)) return;
      const Complex corner =
          value_at(modes, mode) * std::polar(1.0, -angle_at(grid, wave, first_middle(grid)));
      const Complex expected =
          value_at(reference, there) * std::polar(1.0, -angle_at(large, wave, first_middle(large)));
      CHECK(std::abs(corner - expected) <= 1e-13 * std::abs(expected));
      ++compared;
    });
    CHECK(compared >= (num[0] - 1) * (num[1] - 1) * ((num[2] + 1) / 2));
  }
}

TEST_CASE("random field: grids of different sizes have the same waves at the same positions") {
  const Vec3d length{{30, 24, 36}};
  const GridIndex waves{{2, 1, 3}};  // along an axis, up to these: all grids hold them
  for (const Vec3d& position : {Vec3d{}, Vec3d{{1, 20, 30}}, Vec3d{{17.5, 3.25, 8}}}) {
    const double expected = field_at(grid_of({{16, 15, 20}}, length), waves, position);
    CHECK(std::abs(expected) > 1e-3);
    for (const GridIndex& num :
         {GridIndex{{8, 8, 8}}, GridIndex{{7, 12, 11}}, GridIndex{{5, 3, 40}}})
      CHECK(field_at(grid_of(num, length), waves, position) == Approx(expected).epsilon(1e-11));
  }
}

TEST_CASE("random field: modes of a real field without mean and Nyquist frequencies") {
  for (const GridIndex& num : {GridIndex{{8, 6, 4}}, GridIndex{{7, 5, 9}}, GridIndex{{2, 2, 2}}}) {
    const Modes<double> modes = alone(grid_of(num, {{10, 10, 10}}));
    for_cells(modes.layout().index_box, [&](const GridIndex& mode) {
      const bool zero = is_nyquist(mode, num) || mode == GridIndex{};
      CHECK((value_at(modes, mode) == Complex(0)) == zero);
      if (mode[2] != 0) return;
      const GridIndex partner{{(num[0] - mode[0]) % num[0], (num[1] - mode[1]) % num[1], 0}};
      CHECK(value_at(modes, mode) == std::conj(value_at(modes, partner)));
    });
  }
}

TEST_CASE(
    "random field: amplitudes have the spectrum, phases are even, and modes know nothing of each "
    "other") {
  const Grid grid = grid_of({{40, 40, 40}}, {{30, 20, 50}});
  const Modes<double> modes = alone(grid, {.seed = 5});
  const Modes<double> other = alone(grid, {.seed = 5 + (std::uint64_t{1} << 32)});
  Complex mean = 0, square = 0, next = 0, cross = 0;
  double power = 0, power_squared = 0, num = 0;
  for_cells(modes.layout().index_box, [&](const GridIndex& mode) {
    if (mode[2] == 0 || mode[2] >= 19 || is_nyquist(mode, grid.num)) return;
    Vec3d k;
    for (int axis = 0; axis < 3; ++axis)
      k[axis] = 2 * std::numbers::pi / grid.box.length[axis] *
                static_cast<double>(wave_of(mode, grid.num)[axis]);
    const double amplitude = std::sqrt(steep_power()(std::sqrt(dot(k, k))) / grid.box.volume());
    const Complex value = value_at(modes, mode) / amplitude;
    num += 1;
    mean += value;
    square += value * value;
    next += value * std::conj(value_at(modes, mode + GridIndex{{0, 0, 1}}) / amplitude);
    cross += value * std::conj(value_at(other, mode) / amplitude);
    power += std::norm(value);
    power_squared += std::pow(std::norm(value), 2);
  });
  // Sums of num numbers with variances of about 1, and moments of an exponential distribution.
  const double error = 5 / std::sqrt(num);
  CHECK(num > 25000);
  CHECK(power / num == Approx(1).margin(error));
  CHECK(power_squared / num == Approx(2).margin(5 * error));
  for (const Complex& sum : {mean, square, next, cross}) CHECK(std::abs(sum) / num < 2 * error);
}

TEST_CASE("random field: fixed amplitudes are exactly the spectrum's, and inverted phases negate") {
  const Grid grid = grid_of({{10, 9, 8}}, {{30, 20, 50}});
  const Modes<double> fixed = alone(grid, {.seed = 3, .fixed_amplitude = true});
  const Modes<double> free = alone(grid, {.seed = 3});
  const Modes<double> inverted = alone(grid, {.seed = 3, .inverted = true});
  const Modes<double> both = alone(grid, {.seed = 3, .fixed_amplitude = true, .inverted = true});
  for_cells(fixed.layout().index_box, [&](const GridIndex& mode) {
    CHECK(value_at(both, mode) == -value_at(fixed, mode));
    CHECK(value_at(inverted, mode) == -value_at(free, mode));
    if (is_nyquist(mode, grid.num) || mode == GridIndex{}) return;
    Vec3d k;
    for (int axis = 0; axis < 3; ++axis)
      k[axis] = fundamental(grid, axis) * static_cast<double>(wave_of(mode, grid.num)[axis]);
    const double expected = steep_power()(std::sqrt(dot(k, k))) / (30 * 20 * 50.0);
    CHECK(std::norm(value_at(fixed, mode)) == Approx(expected).epsilon(1e-12));
    CHECK(std::arg(value_at(fixed, mode)) == Approx(std::arg(value_at(free, mode))).margin(1e-12));
  });
}

TEST_CASE("displacement: plane waves, alone and crossed, against their formulas") {
  const Context context = make_context();
  const Grid grid = grid_of({{12, 11, 16}}, {{10, 12, 8}});
  for (const Split split : splits_of(context.comm.size()))
    check_displacements<double>(context, Decomposition(grid, context.comm.size(), {.split = split}),
                                1e-13);
  check_displacements<float>(context, Decomposition(grid, context.comm.size()), 1e-5);
}

TEST_CASE(
    "displacement: waves at the Nyquist frequency have curvature, and tides between them and "
    "others") {
  const Context context = make_context();
  const Grid grid = grid_of({{12, 10, 8}}, {{10, 12, 8}});
  // DatasetView see nothing of a sine at this frequency: its phase is 0.
  const std::vector<std::vector<LinearWave>> crossed = {
      {{{{6, 0, 0}}, 0.7, 0}, {{{0, 2, 0}}, 0.5, 1.9}},
      {{{{0, 5, 0}}, 0.7, 0}, {{{0, 0, 3}}, 0.5, 0.4}},
      {{{{0, 0, 4}}, 0.7, 0}, {{{-1, 0, 0}}, 0.5, -2}}};
  for (const Split split : splits_of(context.comm.size())) {
    const Decomposition decomposition(grid, context.comm.size(), {.split = split});
    for (const std::vector<LinearWave>& waves : crossed) {
      const auto second =
          second_order_displacement(context, modes_of<double>(context, decomposition, waves));
      CHECK(worst(context, second, [&](const Vec3d& x) { return second_order(grid, waves, x); }) <
            1e-13);
    }
  }
}

TEST_CASE("displacement: particles and their velocities, of first and second order") {
  const Context context = make_context();
  Grid grid = grid_of({{12, 10, 14}}, {{10, 12, 8}});
  for (const Split split : splits_of(context.comm.size()))
    check_particles<double>(context, Decomposition(grid, context.comm.size(), {.split = split}),
                            0.3, 2);
  const Decomposition decomposition(grid, context.comm.size());
  check_particles<double>(context, decomposition, 0.3, 1);
  check_particles<double>(context, decomposition, 30, 2);  // far beyond the box's edges
  grid.box.lo = {{-3, 100, 0.1}};
  check_particles<float>(context, Decomposition(grid, context.comm.size()), 3, 2);
}

TEST_CASE("displacement: positions that are rounded coarsely are still in the box") {
  const Context context = make_context();
  Grid grid = grid_of({{8, 8, 8}}, {{10, 10, 10}});
  grid.box.lo = {{1e7 + 0.3, -1e7 - 0.4, 0.7}};  // floats are whole numbers there
  const Modes<float> linear =
      modes_of<float>(context, Decomposition(grid, context.comm.size()), three_waves);
  const LptParticles<float> particles = displace(context, linear, {0.5, {0.3, 0.7}, 1});
  for (int axis = 0; axis < 3; ++axis) {
    const double lo = grid.box.lo[axis];
    const auto is_inside = [&](float x) {
      return static_cast<double>(x) >= lo && static_cast<double>(x) < lo + 10;
    };
    const Span<const float> pos = particles.pos[static_cast<std::size_t>(axis)].span();
    CHECK(std::all_of(pos.begin(), pos.end(), is_inside));
  }
}

TEST_CASE("displacement: other universes change the factors only") {
  const Context context = make_context();
  const Decomposition decomposition(grid_of({{8, 8, 8}}, {{10, 10, 10}}), context.comm.size());
  const Modes<double> linear = modes_of<double>(context, decomposition, three_waves);
  const Expansion expansion{0.3, 0.6};
  const double a = 0.5;
  const auto first = first_order_displacement(context, linear);
  const auto second = second_order_displacement(context, linear);
  // Positions by the growth factors, dx / dt by their differences.
  const double step = 1e-4;
  const Growth now = growth_at(expansion, a);
  const Growth before = growth_at(expansion, a - step), after = growth_at(expansion, a + step);
  const double rate = a * a * expansion.hubble_ratio(a) / (2 * step);
  const IndexBox cells = decomposition.cells(context.comm.rank());
  for (const int order : {1, 2}) {
    const LptParticles<double> particles = displace(context, linear, {a, expansion, order});
    for (std::size_t axis = 0; axis < 3; ++axis) {
      Index i = 0;
      for_cells(cells, [&](const GridIndex& cell) {
        const double one = first[axis].span()[i];
        const double two = order == 2 ? second[axis].span()[i] : 0;
        const double centre = 1.25 * (static_cast<double>(cell[static_cast<int>(axis)]) + 0.5);
        CHECK(separation(particles.pos[axis].data()[i], centre + now.d1 * one + now.d2 * two, 10) <
              1e-12);
        CHECK(particles.velocity[axis].data()[i] ==
              Approx(rate * ((after.d1 - before.d1) * one + (after.d2 - before.d2) * two))
                  .epsilon(1e-6)
                  .margin(1e-7));
        ++i;
      });
      CHECK(i == particles.velocity[axis].size());
    }
  }
}

TEST_CASE("displacement: what makes no sense is refused on all ranks") {
  const Context context = make_context();
  const Decomposition decomposition(Grid::cube(4, 10), context.comm.size());
  const Modes<double> linear = random_modes<double>(context, decomposition, steep_power());
  CHECK_THROWS_AS(displace(context, linear, {0.1, {}, 3}), InputError);
  CHECK_THROWS_AS(displace(context, linear, {0, {}, 2}), InputError);
  CHECK_THROWS_AS(displace(context, linear, {0.1, {0, 1}, 2}), InputError);
  for (const double unit : {0.0, -1.0, std::nan(""), HUGE_VAL})
    CHECK_THROWS_AS(displace(context, linear, {.scale_factor = 0.1, .velocity_unit = unit}),
                    InputError);
  const Decomposition unbounded({{{4, 4, 4}}, Box::unbounded()}, context.comm.size());
  CHECK_THROWS_AS(random_modes<double>(context, unbounded, steep_power()), InputError);
  Grid plane = Grid::cube(4, 10);
  plane.box.dimensions = 2;
  const Decomposition flat(plane, context.comm.size());
  CHECK_THROWS_AS(random_modes<double>(context, flat, steep_power()), InputError);
}

TEST_CASE("random field: a spectrum that runs away beyond its table is refused") {
  const Context context = make_context();
  const Decomposition decomposition(Grid::cube(16, 1), context.comm.size());
  const LinearPower rising({0.1, 1, 1.001}, {1, 1, 2});  // and about (k / 1.001)^693 beyond
  const LinearPower falling({0.1, 1, 1.001}, {1, 2, 1});
  CHECK_THROWS_WITH(random_modes<double>(context, decomposition, rising),
                    Catch::Contains("beyond its table") && Catch::Contains("from 6.28319 to"));
  const Modes<float> modes = random_modes<float>(context, decomposition, falling);
  for (const std::complex<float>& mode : modes.span()) CHECK(std::isfinite(std::abs(mode)));
}

TEST_CASE("displacement: what is not finite does not become a position in the box") {
  const Context context = make_context();
  const Decomposition decomposition(Grid::cube(4, 10), context.comm.size());
  Modes<double> linear = random_modes<double>(context, decomposition, steep_power());
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  std::fill(linear.span().begin(), linear.span().end(), Complex{nan, nan});
  const LptParticles<double> particles = displace(context, linear, {0.1, {}, 1});
  for (const auto& axis : particles.pos)
    for (const double x : axis.span()) CHECK(std::isnan(x));
}

TEST_CASE("displacement: one plan serves all derivatives") {
  std::map<std::string, int> calls;
  const Context context =
      make_context({.observer = [&](const char* operation) { ++calls[operation]; }});
  const Decomposition decomposition(Grid::cube(8, 10), context.comm.size());
  const Modes<double> linear = random_modes<double>(context, decomposition, steep_power());
  const auto num_memories = [&](int order) {
    calls.clear();
    displace(context, linear, {0.1, {}, order});
    return calls["split by machine"];  // for each array that ranks share
  };
  const int of_first_order = num_memories(1);
  if (context.comm.size() > 1) CHECK(of_first_order > 0);
  CHECK(num_memories(2) <= 2 * of_first_order);  // there is a way forward, too
}

TEST_CASE("displacement: ranks with different options are told so") {
  const Context context = make_context({.timeout_seconds = 60});
  if (context.comm.size() == 1) return;
  const Decomposition decomposition(Grid::cube(4, 10), context.comm.size());
  const Modes<double> linear = random_modes<double>(context, decomposition, steep_power());
  const bool odd = context.comm.rank() == 1;
  const LptOptions same{0.1, {}, 2};
  for (const LptOptions& other : {LptOptions{0.1, {}, 1}, LptOptions{0.2, {}, 2},
                                  LptOptions{0.1, {0.25, 0.75}, 2}, LptOptions{0.1, {}, 2, 100}})
    CHECK_THAT(input_error_of(context, [&] { displace(context, linear, odd ? other : same); }),
               Catch::Contains("options of a displacement differ"));
}
