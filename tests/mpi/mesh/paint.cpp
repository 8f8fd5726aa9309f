/// Painting: by definition, and the same bits for any ranks, threads and order.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "src/domain/positions.hpp"
#include "src/mesh/painting.hpp"
#include "tests/mpi/comm/agreed_error.hpp"
#include "tests/mpi/comm/late_context.hpp"
#include "tests/mpi/mesh/paint_case.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;
using Catch::Contains;

/// Grids with axes of one cell, fewer planes than ranks, several tiles; with edges and without.
std::vector<Grid> grids() {
  return {odd_grid(1, 1, 1),       odd_grid(2, 3, 5),   odd_grid(17, 5, 3),
          odd_grid(3, 64, 2),      odd_grid(100, 1, 1), odd_grid(5, 3, 17, false),
          odd_grid(1, 2, 2, false)};
}

template <class T, class Real>
void check_by_definition(const Context& context, const PaintedPoints<Real>& points,
                         const PaintOptions& options, double tolerance) {
  const std::vector<double> expected = painted_by_definition(points, points.mass, options);
  const double total = std::accumulate(points.mass.begin(), points.mass.end(), 0.0);
  for (const std::array<int, 2>& shape : shapes_of(context.comm.size())) {
    const Decomposition decomposition(points.grid, context.comm.size(), {.shape = shape});
    Field<T> field(context, decomposition, Ghosts::all_around(1));
    const auto part =
        points.part(part_of(points.num(), Cut::even, context.comm.rank(), context.comm.size()));
    const PaintReport report = paint(context, part.particles, field, options);
    CHECK(report.num_particles == points.num());
    CHECK(report.num_cells == points.grid.size());
    CHECK(report.sum == Approx(total).epsilon(1e-14));
    const std::vector<T> cells = own_cells(context, field);
    const std::vector<double> of_mine = cells_of(expected, points.grid, field.cells());
    REQUIRE(cells.size() == of_mine.size());
    double worst = 0;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const double apart = std::abs(static_cast<double>(cells[i]) - of_mine[i]);
      worst = apart <= worst
                  ? worst
                  : (std::isnan(apart) ? std::numeric_limits<double>::infinity() : apart);
    }
    CHECK(worst <= tolerance * total);
  }
}

}  // namespace

TEST_CASE("paint: every cell is the sum of the window at its distance from the particles") {
  const Context context = make_context();
  for (const Window window : all_windows) {
    for (const Grid& grid : grids()) {
      INFO(name_of(window) << " on " << grid.num[0] << " x " << grid.num[1] << " x " << grid.num[2]
                           << ", periodic " << grid.box.periodic[0]);
      check_by_definition<double>(context, random_points<double>(grid, 60, 1), {.window = window},
                                  1e-14);
      check_by_definition<float>(context, random_points<float>(grid, 60, 2), {.window = window},
                                 1e-7);
    }
  }
}

TEST_CASE("paint: points that are shifted") {
  const Context context = make_context();
  for (const Window window : all_windows) {
    const PaintOptions options{.window = window, .shift = {{0.5, 0.5, 0.5}}};
    check_by_definition<double>(context, random_points<double>(odd_grid(6, 7, 8), 60, 3), options,
                                1e-14);
    check_by_definition<double>(context, random_points<double>(odd_grid(6, 7, 8, false), 60, 3),
                                options, 1e-14);
    check_by_definition<double>(context, random_points<double>(odd_grid(4, 1, 8, false), 60, 4),
                                {.window = window, .shift = {{-1, 0.25, 1}}}, 1e-14);
  }
}

TEST_CASE(
    "paint: the same bits for all ranks, decompositions, parts, threads and orders of particles") {
  const Context context = make_context();
  for (const Window window : {Window::cic, Window::pcs}) {
    const PaintOptions options{.window = window};
    PaintedPoints<float> points = random_points<float>(odd_grid(40, 33, 36), 3000, 5);
    const std::vector<double> whole = painted_by_one_rank<double>(points, options);
    CHECK((painted_by_one_rank<double>(points, options, 2) == whole));
    for (const std::array<int, 2>& shape : shapes_of(context.comm.size())) {
      for (const Cut cut : all_cuts) {
        Field<double> field(context,
                            Decomposition(points.grid, context.comm.size(), {.shape = shape}));
        const auto part =
            points.part(part_of(points.num(), cut, context.comm.rank(), context.comm.size()));
        paint(context, part.particles, field, options);
        CHECK((own_cells(context, field) == cells_of(whole, points.grid, field.cells())));
      }
    }
    PaintedPoints<float> reversed = points;
    std::reverse(reversed.mass.begin(), reversed.mass.end());
    for (std::size_t i = 0; i < points.mass.size(); ++i)
      std::copy_n(&points.pos[3 * i], 3, &reversed.pos[3 * (points.mass.size() - 1 - i)]);
    CHECK((painted_by_one_rank<double>(reversed, options) == whole));
  }
}

TEST_CASE("paint: nothing is lost") {
  const Context context = make_context();
  for (const Window window : all_windows) {
    PaintedPoints<double> points = random_points<double>(odd_grid(20, 18, 34), 500, 6);
    Field<double> field(context, Decomposition(points.grid, context.comm.size()));
    const auto part =
        points.part(part_of(points.num(), Cut::uneven, context.comm.rank(), context.comm.size()));
    const PaintReport report =
        paint(context, part.particles, field, {.window = window, .weights = Weights::unit});
    CHECK(report.sum == 500);
    CHECK(report.sum2 == 500);
    CHECK(report.mean() == 500.0 / (20 * 18 * 34));
    // With few particles in a cell a double has all units of it.
    Index fixed_weight = 0;
    for (const double cell : own_cells(context, field))
      fixed_weight += static_cast<Index>(cell / report.weight_unit);
    CHECK(context.comm.sum(fixed_weight) == static_cast<Index>(500 / report.weight_unit));
  }
}

TEST_CASE("paint: weights of any kind, size and sign, in several segments") {
  const Context context = make_context();
  PaintedPoints<float> points = random_points<float>(odd_grid(6, 5, 4), 200, 7);
  Random random(8);
  std::vector<double> column;
  std::vector<double> product;
  for (std::size_t i = 0; i < points.mass.size(); ++i) {
    points.mass[i] = random.log_uniform(1e-30, 1e30);
    column.push_back(random.uniform(-1, 1));
    product.push_back(points.mass[i] * column[i]);
  }
  const Share share = part_of(points.num(), Cut::even, context.comm.rank(), context.comm.size());
  auto part = points.part(share);
  const Index half = share.count / 2;
  part.particles.segments = {
      ParticleSegment<float>::interleaved(part.pos.data(), half),
      ParticleSegment<float>::interleaved(part.pos.data() + 3 * half, share.count - half)};
  part.particles.segments[0].mass = part.mass.data();
  part.particles.segments[1].mass = part.mass.data() + half;
  const auto check = [&](const PaintOptions& options, const std::vector<double>& weight) {
    const std::vector<double> expected = painted_by_definition(points, weight, options);
    double magnitudes = 0;
    for (const double w : weight) magnitudes += std::abs(w);
    Field<double> field(context, Decomposition(points.grid, context.comm.size()));
    const PaintReport report = paint(context, part.particles, field, options);
    const std::vector<double> cells = own_cells(context, field);
    const std::vector<double> of_mine = cells_of(expected, points.grid, field.cells());
    for (std::size_t i = 0; i < cells.size(); ++i)
      CHECK(std::abs(cells[i] - of_mine[i]) <= 1e-14 * magnitudes);
    CHECK(report.sum ==
          Approx(std::accumulate(weight.begin(), weight.end(), 0.0)).margin(1e-13 * magnitudes));
    const PaintReport alone = painted_alone(points, weight);
    CHECK(report.sum2 == alone.sum2);
    CHECK(report.effective_number == alone.effective_number);
    CHECK(report.sum2 ==
          Approx(std::inner_product(weight.begin(), weight.end(), weight.begin(), 0.0))
              .epsilon(1e-12));
  };
  check({.window = Window::tsc}, points.mass);
  check({.window = Window::cic, .weights = Weights::column, .column = column.data() + share.first},
        column);
  check({.window = Window::cic,
         .weights = Weights::mass_column,
         .column = column.data() + share.first},
        product);
  check({.window = Window::cic, .weights = Weights::column, .column = product.data() + share.first},
        product);

  for (auto& segment : part.particles.segments) segment.mass = {};
  part.particles.uniform_mass = 0.3;
  check({.window = Window::pcs}, std::vector<double>(points.mass.size(), 0.3));
  part.particles.uniform_mass = 0;
  check({.window = Window::cic}, std::vector<double>(points.mass.size(), 0));
}

TEST_CASE("paint: many short segments are painted as one is") {
  const Context context = make_context();
  const Grid grid = Grid::cube(48);  // of several tiles
  const PaintedPoints<float> points = random_points<float>(grid, 2000, 23);
  const auto part = points.part(part_of(2000, Cut::even, context.comm.rank(), context.comm.size()));
  Particles<float> divided = part.particles;
  const ParticleSegment<float> whole = divided.segments.front();
  divided.segments.clear();
  for (Index first = 0; first < whole.num; first += 7) {
    ParticleSegment<float> segment = whole;
    segment.num = std::min<Index>(7, whole.num - first);
    for (auto& axis : segment.pos) axis.data = &axis[first];
    segment.mass = RealColumn(static_cast<const double*>(whole.mass.data()) + first);
    divided.segments.push_back(segment);
  }
  for (const Weights weights : {Weights::mass, Weights::unit}) {
    const PaintOptions options{.window = Window::tsc, .weights = weights};
    const Decomposition decomposition(grid, context.comm.size());
    Field<float> expected(context, decomposition), field(context, decomposition);
    const PaintReport report = paint(context, part.particles, expected, options);
    CHECK(paint(context, divided, field, options).sum == report.sum);
    CHECK(own_cells(context, field) == own_cells(context, expected));
  }
}

TEST_CASE("paint: no particles at all") {
  const Context context = make_context();
  Field<float> field(context, Decomposition(Grid::cube(3), context.comm.size()));
  const PaintReport report = paint(context, Particles<float>{}, field);
  CHECK(report.num_particles == 0);
  CHECK(report.sum == 0);
  for (const float cell : own_cells(context, field)) CHECK(cell == 0);
}

TEST_CASE("paint: particles that are far out are counted and wrapped") {
  const Context context = make_context();
  PaintedPoints<double> points{Grid::cube(8, 4.0), {3.9e4, -3.9e4, 4e3, 4, -0.5, 3.9}, {1, 1}};
  Field<double> field(context, Decomposition(points.grid, context.comm.size()));
  const auto part =
      points.part(part_of(2, Cut::last_only, context.comm.rank(), context.comm.size()));
  CHECK(paint(context, part.particles, field, {.window = Window::pcs}).num_wrapped == 2);
  const std::vector<double> cells = own_cells(context, field);
  CHECK(context.comm.sum(std::accumulate(cells.begin(), cells.end(), 0.0)) == 2);
  points.pos[1] = -1e300;
  const auto far_away =
      points.part(part_of(2, Cut::last_only, context.comm.rank(), context.comm.size()));
  CHECK_THAT(input_error_of(context, [&] { paint(context, far_away.particles, field); }),
             Contains("1 of 2 particles") && Contains("outside the periodic box") &&
                 Contains("particle 0"));
}

TEST_CASE("paint: units of the mean, also of weights that float cannot hold") {
  const Context context = make_context();
  for (const double unit : {1.0, 1e43, 1e-50, 1e160}) {
    PaintedPoints<float> points = random_points<float>(odd_grid(6, 5, 4), 100, 15);
    for (double& mass : points.mass) mass *= unit;
    const std::vector<double> expected =
        painted_by_definition(points, points.mass, {.window = Window::tsc});
    const double mean = std::accumulate(points.mass.begin(), points.mass.end(), 0.0) / 120;
    const auto part =
        points.part(part_of(100, Cut::even, context.comm.rank(), context.comm.size()));
    for (const CellValues values : {CellValues::mean_units, CellValues::overdensity}) {
      Field<float> field(context, Decomposition(points.grid, context.comm.size()));
      const PaintReport report =
          paint(context, part.particles, field, {.window = Window::tsc, .values = values});
      const std::vector<float> cells = own_cells(context, field);
      const std::vector<double> of_mine = cells_of(expected, points.grid, field.cells());
      const double less = values == CellValues::overdensity ? 1 : 0;
      for (std::size_t i = 0; i < cells.size(); ++i)
        CHECK(static_cast<double>(cells[i]) ==
              Approx(of_mine[i] / mean - less).epsilon(1e-6).margin(1e-6));
      double squares = 0;
      for (const double mass : points.mass) squares += mass / mean * (mass / mean);
      CHECK(report.effective_number == Approx(120.0 * 120 / squares).epsilon(1e-9));
    }
    if (unit > 1e38) {
      Field<float> field(context, Decomposition(points.grid, context.comm.size()));
      CHECK_THAT(input_error_of(context, [&] { paint(context, part.particles, field); }),
                 Contains("more than the field's type can hold"));
    }
  }
  Particles<float> massless;
  massless.uniform_mass = 0;
  Field<float> field(context, Decomposition(Grid::cube(4), context.comm.size()));
  CHECK_THAT(
      input_error_of(context,
                     [&] { paint(context, massless, field, {.values = CellValues::mean_units}); }),
      Contains("sum to 0"));
}

TEST_CASE("paint: units of the mean of masses whose sum is beyond a double") {
  const Context context = make_context();
  PaintedPoints<float> points = random_points<float>(odd_grid(6, 5, 4), 100, 15);
  const auto cells_in_units = [&] {
    const auto part =
        points.part(part_of(100, Cut::even, context.comm.rank(), context.comm.size()));
    Field<double> field(context, Decomposition(points.grid, context.comm.size()));
    paint(context, part.particles, field, {.values = CellValues::mean_units});
    return own_cells(context, field);
  };
  const std::vector<double> expected = cells_in_units();
  for (double& mass : points.mass) mass *= 0x1p1015;
  CHECK_FALSE(std::isfinite(std::accumulate(points.mass.begin(), points.mass.end(), 0.0)));
  CHECK(cells_in_units() == expected);
}

TEST_CASE("paint: all particles to one rank, in turns that are bounded") {
  const Context context = make_context();
  const int size = context.comm.size();
  const Grid grid = Grid::cube(16);
  const Decomposition decomposition(grid, size);
  PaintedPoints<float> points = random_points<float>(grid, 1000, 16);
  for (std::size_t p = 0; p < points.mass.size(); ++p)
    points.pos[3 * p] = p % 10 == 0 ? points.pos[3 * p] : 0.9F;
  const auto part = points.part(part_of(1000, Cut::uneven, context.comm.rank(), size));
  const SegmentTable<float> input(context.exec, part.particles);
  Route<float> route;
  route.painted.particles = input.view();
  route.cells = mesh_cells(decomposition, context.comm.rank(), {Window::ngp, {}},
                           decomposition.cells_layout(context.comm.rank()));
  route.limits = {.max_sent = 70, .max_received = 50};
  std::vector<double> came;
  Index max_painted = 0;
  for_each_routed<float>(context, decomposition, route, [&](const RoutedPart<float>& routed) {
    max_painted = std::max(max_painted, routed.painted.particles.num);
    for (Index i = 0; i < routed.painted.particles.num; ++i) {
      const Vec<float, 3> pos = routed.painted.particles[i].pos(3);
      const Vec3d position{
          {static_cast<double>(pos[0]), static_cast<double>(pos[1]), static_cast<double>(pos[2])}};
      CHECK(decomposition.owner_of(position) == context.comm.rank());
      came.push_back(routed.painted.weight(i));
    }
  });
  CHECK(max_painted <= 50 + size);
  CHECK(context.comm.sum(static_cast<Index>(came.size())) == 1000);
  // Each once: units of 1, as the scale is 1.
  double sum = 0;
  for (const double mass : points.mass) sum += std::nearbyint(mass);
  CHECK(context.comm.sum(std::accumulate(came.begin(), came.end(), 0.0)) == sum);
}

TEST_CASE("paint: bad input is one error on all ranks") {
  const Context context = make_context();
  const int last = context.comm.size() - 1;
  const Decomposition decomposition(Grid::cube(8), context.comm.size());
  Field<float> field(context, decomposition);
  PaintedPoints<float> points = random_points<float>(Grid::cube(8), 40, 9);
  const Share share = part_of(40, Cut::last_only, context.comm.rank(), context.comm.size());
  const auto message = [&](const PaintOptions& options, Field<float>& to) {
    auto part = points.part(share);
    return input_error_of(context, [&] { paint(context, part.particles, to, options); });
  };
  const auto with = [&](auto& values, std::size_t at, auto value, const PaintOptions& options,
                        Field<float>& to) {
    std::swap(values[at], value);
    const std::string text = message(options, to);
    std::swap(values[at], value);
    return text;
  };
  const float nan = std::nanf("");
  CHECK_THAT(with(points.pos, 25, nan, {}, field),
             Contains("1 of 40 particles") && Contains("particle 8"));
  CHECK_THAT(with(points.mass, 39, std::nan(""), {}, field),
             Contains("1 of 40 particles have a mass") && Contains("particle 39"));
  CHECK_THAT(with(points.mass, 39, -1.0, {}, field),
             Contains("mass that is negative") && Contains("particle 39"));
  const std::vector<double> column(points.mass.size(), share.count > 0 ? std::nan("") : 1);
  CHECK_THAT(message({.weights = Weights::column, .column = column.data()}, field),
             Contains("40 of 40 particles have a weight") && Contains("particle 0"));
  const std::vector<double> negative(points.mass.size(), -1);
  CHECK_THAT(message({.weights = Weights::column,
                      .column = negative.data(),
                      .values = CellValues::overdensity},
                     field),
             Contains("weights of 40 particles sum to -40") && Contains("mean of more than 0"));
  auto part = points.part(share);
  part.particles.segments[0].mass = {};
  part.particles.uniform_mass = -2;
  CHECK_THAT(input_error_of(context, [&] { paint(context, part.particles, field); }),
             Contains("40 of 40 particles have a mass that is negative") && Contains("particle 0"));
  Grid open = Grid::cube(8);
  open.box.periodic = {};
  Field<float> bounded(context, Decomposition(open, context.comm.size()));
  for (float& x : points.pos) x = 0.5F;
  CHECK_THAT(with(points.pos, 30, 1.5F, {}, bounded),
             Contains("1 of 40 particles lie outside the box"));
  CHECK_THAT(message({.window = static_cast<Window>(5)}, field), Contains("window of order 5"));
  CHECK_THAT(message({.weights = Weights::column}, field), Contains("PaintOptions::column"));
  CHECK_THAT(message({.weights = static_cast<Weights>(4)}, field), Contains("no enumerator"));
  CHECK_THAT(message({.values = static_cast<CellValues>(-1)}, field), Contains("no enumerator"));
  CHECK_THAT(message({.shift = {{0, 3, 0}}}, field), Contains("shifted by 3 cells along y"));
  Grid flat = Grid::cube(8);
  flat.box = Box::unbounded();
  Field<float> unbounded(context, Decomposition(flat, context.comm.size()));
  CHECK_THAT(message({}, unbounded), Contains("no length along x"));
  if (last > 0) {
    MPI_Comm reversed = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -context.comm.rank(), &reversed);
    const Context backwards{Communicator(reversed), context.exec};
    MPI_Comm_free(&reversed);
    Field<float> turned(backwards, decomposition);
    CHECK_THAT(message({}, turned), Contains("other cells than this rank"));
    const Window mine = context.comm.rank() == last ? Window::tsc : Window::cic;
    CHECK_THAT(message({.window = mine}, field), Contains("differ"));
    const double apart = context.comm.rank() == last ? 0.5 : 0;
    CHECK_THAT(message({.shift = {{0, 0, apart}}}, field), Contains("differ"));
  }
  Particles<float> plane;
  plane.dimensions = 2;
  CHECK_THAT(input_error_of(context, [&] { paint(context, plane, field); }),
             Contains("2 dimensions"));
}
