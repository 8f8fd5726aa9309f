/// Random fields, and the displacements of plane waves against their formulas.
#include "zhalo/mesh/initial_conditions.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>

#include "tests/mpi/agreed_error.hpp"
#include "tests/mpi/late_context.hpp"
#include "tests/mpi/mesh_case.hpp"
#include "tests/support/direct_dft.hpp"

using namespace zhalo;
using namespace zhalo::testing;

namespace {

using Complex = std::complex<double>;

Grid grid_of(const GridIndex& num, const Vec3d& length) {
  Grid grid{num, Box::periodic_cube(1)};
  grid.box.length = length;
  return grid;
}

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

/// A wave of the overdensity, amplitude cos(k x + phase), x being 0 at cell 0.
struct Wave {
  GridIndex number;
  double amplitude = 0;
  double phase = 0;

  Vec3d k(const Grid& grid) const {
    Vec3d k;
    for (int axis = 0; axis < 3; ++axis) k[axis] = fundamental(grid, axis) * static_cast<double>(number[axis]);
    return k;
  }
};

double dot(const Vec3d& a, const Vec3d& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

template <class T>
Modes<T> modes_of(const Context& context, const Decomposition& decomposition, const std::vector<Wave>& waves) {
  Modes<T> modes(context, decomposition);
  for (std::complex<T>& value : modes.span()) value = 0;
  const GridIndex& num = decomposition.grid().num;
  for (const Wave& wave : waves) {
    for (const Index sign : {1, -1}) {
      GridIndex mode;
      for (int axis = 0; axis < 3; ++axis) mode[axis] = (sign * wave.number[axis] + num[axis]) % num[axis];
      if (!modes.layout().brick.contains(mode)) continue;
      const Complex value = std::polar(wave.amplitude / 2, static_cast<double>(sign) * wave.phase);
      modes.span()[modes.layout().offset(mode)] += std::complex<T>(value);
    }
  }
  return modes;
}

/// Place of a cell from cell 0 on.
Vec3d place_of(const Grid& grid, const GridIndex& cell) {
  Vec3d place;
  for (int axis = 0; axis < 3; ++axis) place[axis] = grid.spacing(axis) * static_cast<double>(cell[axis]);
  return place;
}

/// phi1 = - sum of A / k^2 cos: its gradient is sum of A k / k^2 sin.
Vec3d first_order(const Grid& grid, const std::vector<Wave>& waves, const Vec3d& x) {
  Vec3d sum;
  for (const Wave& wave : waves) {
    const Vec3d k = wave.k(grid);
    sum -= k * (wave.amplitude / dot(k, k) * std::sin(dot(k, x) + wave.phase));
  }
  return sum;
}

/// The source is the sum over pairs of A B (1 - mu^2) cos a cos b, mu being the cosine of the angle between the waves; the product of
/// cosines is a sum of two waves, of which the potential is known.
Vec3d second_order(const Grid& grid, const std::vector<Wave>& waves, const Vec3d& x) {
  Vec3d sum;
  for (std::size_t i = 0; i < waves.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const Vec3d a = waves[i].k(grid);
      const Vec3d b = waves[j].k(grid);
      const double mu_squared = dot(a, b) * dot(a, b) / (dot(a, a) * dot(b, b));
      const double amplitude = waves[i].amplitude * waves[j].amplitude * (1 - mu_squared) / 2;
      for (const double sign : {1.0, -1.0}) {
        const Vec3d k = a + b * sign;
        const double angle = dot(k, x) + waves[i].phase + sign * waves[j].phase;
        sum += k * (amplitude / dot(k, k) * std::sin(angle));
      }
    }
  }
  return sum;
}

const std::vector<Wave> one_wave = {{{{1, -2, 1}}, 0.7, 0.4}};
const std::vector<Wave> three_waves = {{{{1, -2, 1}}, 0.7, 0.4}, {{{2, 1, 0}}, 0.5, 1.9}, {{{-1, 1, 3}}, 0.9, -2}};

/// Largest difference of displacements from a formula, over all ranks.
template <class T, class Formula>
double worst(const Context& context, const std::array<Field<T>, 3>& fields, const Formula& formula) {
  double difference = 0;
  const Grid& grid = fields[0].decomposition().grid();
  for_cells(fields[0].cells(), [&](const GridIndex& cell) {
    const Vec3d expected = formula(place_of(grid, cell));
    for (int axis = 0; axis < 3; ++axis) {
      const auto& field = fields[static_cast<std::size_t>(axis)];
      const auto value = static_cast<double>(field.span()[field.layout().offset(cell)]);
      difference = std::max(difference, std::abs(value - expected[axis]));
    }
  });
  return context.comm.max(difference);
}

template <class T>
void check_displacements(const Context& context, const Decomposition& decomposition, double tolerance) {
  const Grid& grid = decomposition.grid();
  const Modes<T> one = modes_of<T>(context, decomposition, one_wave);
  const Modes<T> three = modes_of<T>(context, decomposition, three_waves);
  const auto first = [&](const std::vector<Wave>& waves) {
    return [&grid, &waves](const Vec3d& x) { return first_order(grid, waves, x); };
  };
  CHECK(worst(context, first_order_displacement(context, one), first(one_wave)) < tolerance);
  CHECK(worst(context, first_order_displacement(context, three), first(three_waves)) < tolerance);
  CHECK(worst(context, second_order_displacement(context, one), [](const Vec3d&) { return Vec3d{}; }) < tolerance);
  CHECK(worst(context, second_order_displacement(context, three),
              [&](const Vec3d& x) { return second_order(grid, three_waves, x); }) < tolerance);
}

/// Slabs, and pencils where there can be some.
std::vector<Split> splits_of(int num_ranks) {
  return num_ranks > 3 ? std::vector{Split::slab, Split::pencil} : std::vector{Split::slab};
}

/// Between two places in a periodic box.
double separation(double a, double b, double length) { return std::abs(std::remainder(a - b, length)); }

/// Universe of matter alone: D1 = a, D2 = -3/7 a^2, H = a^(-3/2).
template <class T>
void check_particles(const Context& context, const Decomposition& decomposition, double a, int order) {
  const Grid& grid = decomposition.grid();
  const Modes<T> linear = modes_of<T>(context, decomposition, three_waves);
  const LptParticles<T> particles = displace(context, linear, {a, {1, 0}, order});
  const Brick cells = decomposition.cells(context.comm.rank());
  REQUIRE(particles.id.size() == cells.size());
  const double tolerance = sizeof(T) == 8 ? 1e-12 : 2e-5;
  Index i = 0;
  for_cells(cells, [&](const GridIndex& cell) {
    CHECK(particles.id.data()[i] == place_on(grid.num, cell) + 1);
    const Vec3d x = place_of(grid, cell);
    const Vec3d first = first_order(grid, three_waves, x);
    const Vec3d second = order == 2 ? second_order(grid, three_waves, x) : Vec3d{};
    for (int axis = 0; axis < 3; ++axis) {
      const auto at = static_cast<std::size_t>(axis);
      const double lo = grid.box.lo[axis];
      const double length = grid.box.length[axis];
      const double moved = a * first[axis] - 3.0 / 7 * a * a * second[axis];
      const double rate = first[axis] - 6.0 / 7 * a * second[axis];  // dx / da
      const auto pos = static_cast<double>(particles.pos[at].data()[i]);
      CHECK(separation(pos, lo + x[axis] + grid.spacing(axis) / 2 + moved, length) < tolerance * length);
      CHECK((pos >= lo && pos < lo + length));
      CHECK(static_cast<double>(particles.velocity[at].data()[i]) == Approx(std::sqrt(a) * rate).margin(tolerance * length));
    }
    ++i;
  });
}

}  // namespace

TEST_CASE("random field: the same for any ranks, bit for bit") {
  const Context context = make_context();
  for (const GridIndex& num : {GridIndex{{12, 12, 12}}, GridIndex{{5, 9, 14}}, GridIndex{{1, 2, 3}}, GridIndex{{6, 1, 1}}}) {
    const Grid grid = grid_of(num, {{30, 20, 50}});
    const Modes<double> reference = alone(grid);
    for (const std::array<int, 2>& shape : shapes_of(context.comm.size())) {
      const Decomposition decomposition(grid, context.comm.size(), {.shape = shape});
      const auto modes = random_modes<double>(context, decomposition, steep_power());
      const auto single = random_modes<float>(context, decomposition, steep_power());
      for_cells(modes.layout().brick, [&](const GridIndex& mode) {
        const Complex expected = value_at(reference, mode);
        CHECK(value_at(modes, mode) == expected);
        CHECK(value_at(single, mode) == std::complex<float>(expected));
      });
    }
  }
}

TEST_CASE("random field: grids of different sizes have their common modes in common") {
  const Vec3d length{{30, 30, 30}};
  const Grid large = grid_of({{16, 15, 20}}, length);
  const Modes<double> reference = alone(large);
  for (const GridIndex& num : {GridIndex{{8, 8, 8}}, GridIndex{{7, 12, 11}}, GridIndex{{16, 3, 2}}}) {
    const Modes<double> modes = alone(grid_of(num, length));
    Index compared = 0;
    for_cells(modes.layout().brick, [&](const GridIndex& mode) {
      if (is_nyquist(mode, num)) return;
      GridIndex there = wave_of(mode, num);
      for (int axis = 0; axis < 3; ++axis) there[axis] = (there[axis] + large.num[axis]) % large.num[axis];
      if (is_nyquist(there, large.num)) return;
      CHECK(value_at(modes, mode) == value_at(reference, there));
      ++compared;
    });
    CHECK(compared >= (num[0] - 1) * (num[1] - 1) * ((num[2] + 1) / 2));
  }
}

TEST_CASE("random field: modes of a real field without mean and Nyquist frequencies") {
  for (const GridIndex& num : {GridIndex{{8, 6, 4}}, GridIndex{{7, 5, 9}}, GridIndex{{2, 2, 2}}}) {
    const Modes<double> modes = alone(grid_of(num, {{10, 10, 10}}));
    for_cells(modes.layout().brick, [&](const GridIndex& mode) {
      const bool zero = is_nyquist(mode, num) || mode == GridIndex{};
      CHECK((value_at(modes, mode) == Complex(0)) == zero);
      if (mode[2] != 0) return;
      const GridIndex partner{{(num[0] - mode[0]) % num[0], (num[1] - mode[1]) % num[1], 0}};
      CHECK(value_at(modes, mode) == std::conj(value_at(modes, partner)));
    });
  }
}

TEST_CASE("random field: amplitudes have the spectrum, phases are even, and modes know nothing of each other") {
  const Grid grid = grid_of({{40, 40, 40}}, {{30, 20, 50}});
  const Modes<double> modes = alone(grid, {.seed = 5});
  const Modes<double> other = alone(grid, {.seed = 5 + (std::uint64_t{1} << 32)});
  Complex mean = 0, square = 0, next = 0, cross = 0;
  double power = 0, power_squared = 0, num = 0;
  for_cells(modes.layout().brick, [&](const GridIndex& mode) {
    if (mode[2] == 0 || mode[2] >= 19 || is_nyquist(mode, grid.num)) return;
    Vec3d k;
    for (int axis = 0; axis < 3; ++axis)
      k[axis] = 2 * std::numbers::pi / grid.box.length[axis] * static_cast<double>(wave_of(mode, grid.num)[axis]);
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
  for_cells(fixed.layout().brick, [&](const GridIndex& mode) {
    CHECK(value_at(both, mode) == -value_at(fixed, mode));
    CHECK(value_at(inverted, mode) == -value_at(free, mode));
    if (is_nyquist(mode, grid.num) || mode == GridIndex{}) return;
    Vec3d k;
    for (int axis = 0; axis < 3; ++axis) k[axis] = fundamental(grid, axis) * static_cast<double>(wave_of(mode, grid.num)[axis]);
    const double expected = steep_power()(std::sqrt(dot(k, k))) / (30 * 20 * 50.0);
    CHECK(std::norm(value_at(fixed, mode)) == Approx(expected).epsilon(1e-12));
    CHECK(std::arg(value_at(fixed, mode)) == Approx(std::arg(value_at(free, mode))).margin(1e-12));
  });
}

TEST_CASE("displacement: plane waves, alone and crossed, against their formulas") {
  const Context context = make_context();
  const Grid grid = grid_of({{12, 11, 16}}, {{10, 12, 8}});
  for (const Split split : splits_of(context.comm.size()))
    check_displacements<double>(context, Decomposition(grid, context.comm.size(), {.split = split}), 1e-13);
  check_displacements<float>(context, Decomposition(grid, context.comm.size()), 1e-5);
}

TEST_CASE("displacement: particles and their velocities, of first and second order") {
  const Context context = make_context();
  Grid grid = grid_of({{12, 10, 14}}, {{10, 12, 8}});
  for (const Split split : splits_of(context.comm.size()))
    check_particles<double>(context, Decomposition(grid, context.comm.size(), {.split = split}), 0.3, 2);
  const Decomposition decomposition(grid, context.comm.size());
  check_particles<double>(context, decomposition, 0.3, 1);
  check_particles<double>(context, decomposition, 30, 2);  // far beyond the box's edges
  grid.box.lo = {{-3, 100, 0.1}};
  check_particles<float>(context, Decomposition(grid, context.comm.size()), 3, 2);
}

TEST_CASE("displacement: other universes change the factors only") {
  const Context context = make_context();
  const Decomposition decomposition(grid_of({{8, 8, 8}}, {{10, 10, 10}}), context.comm.size());
  const Modes<double> linear = modes_of<double>(context, decomposition, three_waves);
  const Expansion expansion{0.3, 0.6};
  const double a = 0.5;
  const LptParticles<double> particles = displace(context, linear, {a, expansion, 1});
  const auto first = first_order_displacement(context, linear);
  // dx / dt by the difference of growth factors.
  const double step = 1e-4;
  const double slope = (growth_at(expansion, a + step).d1 - growth_at(expansion, a - step).d1) / (2 * step);
  const double rate = a * a * expansion.hubble_ratio(a) * slope;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (Index i = 0; i < particles.velocity[axis].size(); ++i)
      CHECK(particles.velocity[axis].data()[i] == Approx(rate * first[axis].span()[i]).epsilon(1e-6).margin(1e-12));
  }
}

TEST_CASE("displacement: what makes no sense is refused on all ranks") {
  const Context context = make_context();
  const Decomposition decomposition(Grid::cube(4, 10), context.comm.size());
  const Modes<double> linear = random_modes<double>(context, decomposition, steep_power());
  CHECK_THROWS_AS(displace(context, linear, {0.1, {}, 3}), InputError);
  CHECK_THROWS_AS(displace(context, linear, {0, {}, 2}), InputError);
  CHECK_THROWS_AS(displace(context, linear, {0.1, {0, 1}, 2}), InputError);
  const Decomposition unbounded({{{4, 4, 4}}, Box::unbounded()}, context.comm.size());
  CHECK_THROWS_AS(random_modes<double>(context, unbounded, steep_power()), InputError);
}
