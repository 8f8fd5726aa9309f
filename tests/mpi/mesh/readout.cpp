/// Readout: by definition, the redistribute of painting, the same bits for any ranks and threads.
#include "src/mesh/painting.hpp"

#include <numeric>

#include "src/domain/positions.hpp"
#include "tests/mpi/comm/agreed_error.hpp"
#include "tests/mpi/comm/late_context.hpp"
#include "tests/mpi/mesh/paint_case.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;
using Catch::Contains;

/// A value for each cell of any grid.
double value_of(const GridIndex& cell) {
  return static_cast<double>(number_of(cell) * 7919 % 10007) / 313.0;
}

template <class T>
Field<T> field_of_values(const Context& context, const Decomposition& decomposition,
                         double factor = 1) {
  Field<T> field(context, decomposition, {{{0, 1, 2}}, {{1, 0, 0}}});
  std::vector<T> values(static_cast<std::size_t>(field.layout().size),
                        static_cast<T>(1e30));  // of ghosts: must not be seen
  for_cells(field.cells(), [&](const GridIndex& cell) {
    values[static_cast<std::size_t>(field.layout().offset(cell))] =
        static_cast<T>(factor * value_of(cell));
  });
  write_field(context, field, values);
  return field;
}

template <class T, class Real>
std::vector<T> read_by_one_rank(const PaintedPoints<Real>& points, Window window, int threads = 1) {
  Context context;
  context.exec = host_exec(threads);
  const Field<T> field = field_of_values<T>(context, Decomposition(points.grid, 1));
  const auto part = points.part({0, points.num()});
  return to_host(context.exec, readout(context, field, part.particles, window));
}

template <class Real>
double read_by_definition(const PaintedPoints<Real>& points, std::size_t p, Window window) {
  std::vector<double> of[3];
  for (int axis = 0; axis < 3; ++axis)
    of[axis] = axis_weights(points.grid, axis,
                            static_cast<double>(points.pos[3 * p + static_cast<std::size_t>(axis)]),
                            {.window = window});
  double sum = 0;
  for_cells(points.grid.index_box(), [&](const GridIndex& cell) {
    double weight = 1;
    for (int axis = 0; axis < 3; ++axis) weight *= of[axis][static_cast<std::size_t>(cell[axis])];
    sum += weight * value_of(cell);
  });
  return sum;
}

}  // namespace

TEST_CASE("readout: every value is the window's mean of the cells around the point") {
  for (const Window window : all_windows) {
    for (const Grid& grid :
         {odd_grid(1, 1, 1), odd_grid(2, 3, 5), odd_grid(17, 5, 3), odd_grid(5, 3, 7, false)}) {
      const PaintedPoints<double> points = random_points<double>(grid, 60, 11);
      const std::vector<double> values = read_by_one_rank<double>(points, window);
      for (std::size_t p = 0; p < values.size(); ++p)
        CHECK(values[p] == Approx(read_by_definition(points, p, window)).epsilon(1e-12));
    }
  }
}

TEST_CASE(
    "readout: the same bits for all ranks, decompositions, parts and threads; several fields at "
    "once") {
  const Context context = make_context();
  for (const Window window : {Window::ngp, Window::cic, Window::pcs}) {
    for (const Grid& grid : {odd_grid(12, 9, 10), odd_grid(3, 2, 4), odd_grid(6, 5, 3, false)}) {
      const PaintedPoints<float> points = random_points<float>(grid, 400, 12);
      const std::vector<float> whole = read_by_one_rank<float>(points, window);
      CHECK((read_by_one_rank<float>(points, window, 2) == whole));
      for (const std::array<int, 2>& shape : shapes_of(context.comm.size())) {
        for (const Cut cut : {Cut::uneven, Cut::last_only}) {
          const Decomposition decomposition(grid, context.comm.size(), {.shape = shape});
          const Field<float> field = field_of_values<float>(context, decomposition);
          const Field<float> twice = field_of_values<float>(context, decomposition, 2);
          const Share share = part_of(points.num(), cut, context.comm.rank(), context.comm.size());
          const auto part = points.part(share);
          const auto values =
              readout<float, float>(context, {&field, &twice}, part.particles, window);
          REQUIRE(values.size() == 2);
          const std::vector<float> mine(whole.begin() + share.first,
                                        whole.begin() + share.first + share.count);
          std::vector<float> doubled = mine;
          for (float& value : doubled) value *= 2;
          CHECK((to_host(context.exec, values[0]) == mine));
          CHECK((to_host(context.exec, values[1]) == doubled));
        }
      }
    }
  }
}

TEST_CASE("readout: the same bits where more positions than may travel at a time do so in parts") {
  const Context context = make_context();
  const int size = context.comm.size();
  const Grid grid = odd_grid(12, 9, 10);
  PaintedPoints<float> points = random_points<float>(grid, 1000, 17);
  // Most go to one rank, which takes them in turns.
  const auto middle = static_cast<float>(grid.box.lo[0] + grid.box.length[0] / 2);
  for (std::size_t p = 0; p < points.mass.size(); ++p)
    if (p % 10 != 0) points.pos[3 * p] = middle;
  const std::vector<double> whole = read_by_one_rank<double>(points, Window::tsc);
  const Field<double> field = field_of_values<double>(context, Decomposition(grid, size));
  const Share share = part_of(points.num(), Cut::uneven, context.comm.rank(), size);
  const auto part = points.part(share);
  const SegmentTable<float> input(context.exec, part.particles);
  const auto values = readout_checked<double, float>(
      context, {&field, &field}, input.view(), Window::tsc, {.max_sent = 70, .max_received = 50});
  const std::vector<double> mine(whole.begin() + share.first,
                                 whole.begin() + share.first + share.count);
  REQUIRE(values.size() == 2);
  for (const Buffer<double>& of_field : values) CHECK((to_host(context.exec, of_field) == mine));
}

TEST_CASE("readout: many short segments are read as one is") {
  const Grid grid = odd_grid(12, 9, 10);
  const PaintedPoints<float> points = random_points<float>(grid, 40000, 13);
  const auto part = points.part({0, points.num()});
  const ParticleSegment<float> whole = part.particles.segments.front();
  Particles<float> divided = part.particles;
  divided.segments.clear();
  for (Index first = 0, num = 0; first < whole.num; first += num) {
    num = std::min<Index>(first % 11, whole.num - first);  // some are empty
    if (num == 0) divided.segments.push_back({});
    num = std::max<Index>(num, 1);
    ParticleSegment<float> segment = whole;
    segment.num = num;
    for (auto& axis : segment.pos) axis.data = &axis[first];
    divided.segments.push_back(segment);
  }
  Context context;
  context.exec = host_exec(3);
  const Field<double> field = field_of_values<double>(context, Decomposition(grid, 1));
  for (const Window window : {Window::ngp, Window::tsc}) {
    const auto expected = read_by_one_rank<double>(points, window);
    CHECK((to_host(context.exec, readout(context, field, divided, window)) == expected));
  }
}

TEST_CASE("readout: the transpose of painting") {
  const Context context = make_context();
  for (const Window window : all_windows) {
    const PaintedPoints<double> points = random_points<double>(odd_grid(9, 8, 7), 300, 13);
    const Decomposition decomposition(points.grid, context.comm.size());
    const Field<double> field = field_of_values<double>(context, decomposition);
    const auto part =
        points.part(part_of(points.num(), Cut::even, context.comm.rank(), context.comm.size()));
    const std::vector<double> values =
        to_host(context.exec, readout(context, field, part.particles, window));
    Field<double> painted(context, decomposition);
    paint(context, part.particles, painted, {.window = window});
    const std::vector<double> a = own_cells(context, painted);
    const std::vector<double> b = own_cells(context, field);
    const double of_points =
        context.comm.sum(std::inner_product(values.begin(), values.end(), part.mass.begin(), 0.0));
    const double of_cells =
        context.comm.sum(std::inner_product(a.begin(), a.end(), b.begin(), 0.0));
    CHECK(of_points == Approx(of_cells).epsilon(1e-12));
  }
}

TEST_CASE("readout: bad input is one error on all ranks") {
  const Context context = make_context();
  const Field<double> field =
      field_of_values<double>(context, Decomposition(Grid::cube(4), context.comm.size()));
  const Field<double> other =
      field_of_values<double>(context, Decomposition(Grid::cube(5), context.comm.size()));
  PaintedPoints<double> points = random_points<double>(Grid::cube(4), 10, 14);
  const auto message = [&](const std::vector<const Field<double>*>& fields, Window window) {
    const auto part = points.part(part_of(10, Cut::even, context.comm.rank(), context.comm.size()));
    return input_error_of(
        context, [&] { readout<double, double>(context, fields, part.particles, window); });
  };
  CHECK_THAT(message({}, Window::cic), Contains("no field"));
  const bool is_last = context.comm.rank() == context.comm.size() - 1;
  CHECK_THAT(message({&field, is_last ? nullptr : &field}, Window::cic), Contains("null pointer"));
  CHECK_THAT(message({&field, &other}, Window::cic), Contains("different decompositions"));
  CHECK_THAT(message({&field}, static_cast<Window>(0)), Contains("window of order 0"));
  points.pos[27] = std::numeric_limits<double>::infinity();
  CHECK_THAT(message({&field}, Window::cic), Contains("1 of 10 points") && Contains("point 9"));
}
