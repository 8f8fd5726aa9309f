/// Painting and sampling in memory of a CUDA device: the bits of the host, on one rank. Skipped
/// visibly without a device.
#include "tests/mpi/device/find_device.hpp"
#include "tests/mpi/mesh/paint_case.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;

/// This rank's particles in the context's memory, with a column of either sign.
template <class Real>
class DevicePoints {
 public:
  DevicePoints(const Context& context, const PaintedPoints<Real>& points,
               const std::vector<double>& column) {
    const Share share =
        part_of(points.num(), Cut::uneven, context.comm.rank(), context.comm.size());
    const auto part = points.part(share);
    pos_ = upload(context.exec, part.pos);
    mass_ = upload(context.exec, part.mass);
    column_ = upload(context.exec, std::vector<double>(column.begin() + share.first,
                                                       column.begin() + share.first + share.count));
    particles_.segments.push_back(ParticleSegment<Real>::interleaved(pos_.data(), share.count));
    particles_.segments[0].mass = RealColumn(mass_.data());
  }
  const Particles<Real>& particles() const { return particles_; }
  RealColumn column() const { return RealColumn(column_.data()); }

 private:
  Buffer<Real> pos_;
  Buffer<double> mass_;
  Buffer<double> column_;
  Particles<Real> particles_;
};

std::vector<double> signed_column(Index num) {
  Random random(21);
  std::vector<double> column;
  for (Index i = 0; i < num; ++i) column.push_back(random.uniform(-1, 1));
  return column;
}

template <class T, class Real>
void check_paint(const Context& context, const PaintedPoints<Real>& points) {
  const std::vector<double> column = signed_column(points.num());
  const DevicePoints<Real> there(context, points, column);
  for (const Window window : all_windows) {
    for (const Weights weights :
         {Weights::mass, Weights::unit, Weights::column, Weights::mass_column}) {
      INFO(name_of(window) << ", weights " << static_cast<int>(weights));
      PaintOptions options{
          .window = window, .weights = weights, .column = RealColumn(column.data())};
      const std::vector<T> whole = painted_by_one_rank<T>(points, options);
      options.column = there.column();
      for (const std::array<int, 2>& shape : shapes_of(context.comm.size())) {
        Field<T> field(context, Decomposition(points.grid, context.comm.size(), {.shape = shape}),
                       Ghosts::all_around(1));
        paint(context, there.particles(), field, options);
        CHECK((own_cells(context, field) == cells_of(whole, points.grid, field.cells())));
      }
    }
  }
}

/// A value for each cell of any grid.
double value_of(const GridIndex& cell) {
  return static_cast<double>(number_of(cell) * 7919 % 10007) / 313.0;
}

template <class T>
Field<T> field_of_values(const Context& context, const Decomposition& decomposition) {
  Field<T> field(context, decomposition);
  std::vector<T> values(static_cast<std::size_t>(field.layout().size));
  for_cells(field.cells(), [&](const GridIndex& cell) {
    values[static_cast<std::size_t>(field.layout().offset(cell))] = static_cast<T>(value_of(cell));
  });
  write_field(context, field, values);
  return field;
}

template <class T, class Real>
void check_readout(const Context& context, const PaintedPoints<Real>& points) {
  const DevicePoints<Real> there(context, points, signed_column(points.num()));
  const Share share = part_of(points.num(), Cut::uneven, context.comm.rank(), context.comm.size());
  const auto mine = points.part(share);
  Context alone;
  alone.exec = host_exec(1);
  const Field<T> all = field_of_values<T>(alone, Decomposition(points.grid, 1));
  for (const Window window : all_windows) {
    INFO(name_of(window));
    const std::vector<T> expected =
        to_host(alone.exec, readout(alone, all, mine.particles, window));
    for (const std::array<int, 2>& shape : shapes_of(context.comm.size())) {
      const Field<T> field = field_of_values<T>(
          context, Decomposition(points.grid, context.comm.size(), {.shape = shape}));
      CHECK(
          (to_host(context.exec, readout(context, field, there.particles(), window)) == expected));
    }
  }
}

template <class T, class Real>
void check_both(const Context& context) {
  for (const Grid& grid : {odd_grid(20, 9, 34), odd_grid(1, 3, 5), odd_grid(7, 8, 9, false)}) {
    INFO(grid.num[0] << " x " << grid.num[1] << " x " << grid.num[2] << ", periodic "
                     << grid.box.periodic[0]);
    const PaintedPoints<Real> points = random_points<Real>(grid, 2000, 22);
    check_paint<T>(context, points);
    check_readout<T>(context, points);
  }
}

}  // namespace

TEST_CASE("device: painting and sampling give the host's bits") {
  Context context;
  if (!find_device(context)) return;
  check_both<float, float>(context);
  check_both<float, double>(context);
  check_both<double, float>(context);
  check_both<double, double>(context);
}
