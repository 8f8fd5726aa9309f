// Deposits and readout on every Exec, bit for bit against the text for one particle after the
// other.
#include <algorithm>
#include <cmath>

#include "kernels/host/parallel.hpp"
#include "kernels/mesh.hpp"
#include "kernels/particles.hpp"
// The loops come first.
#include "kernels/common/mesh/mass_assignment.hpp"
#include "tests/parity/uploaded.hpp"
#include "tests/support/random.hpp"

namespace zhalo::testing {
namespace {

using kernels::MeshAxis;
using kernels::MeshCells;

/// All cells of a grid on one rank, or its part with ghosts behind it along x.
MeshCells cells_of(Index order, const Index (&num)[3], bool periodic, Index first_plane) {
  MeshCells cells;
  cells.order = static_cast<int>(order);
  Index stride = 1;
  for (int a = 2; a >= 0; --a) {
    const bool is_part = a == 0 && first_plane > 0;
    MeshAxis& axis = cells.axis[a];
    axis = {-1.0,
            2.0,
            static_cast<double>(num[a]) / 2,
            a == 1 ? 0.75 : 0.5,
            num[a],
            periodic,
            0,
            stride,
            periodic,
            num[a]};
    if (is_part) {
      axis.first = first_plane;
      axis.wraps = false;
      axis.num_own = num[a] - first_plane;
    }
    stride *= axis.num_own + (is_part ? order : 0);
  }
  return cells;
}

Index size_of(const MeshCells& cells) {
  return cells.axis[0].stride * (cells.axis[0].num_own + cells.order);
}

/// How many particles there are, how many of them follow each other at one position, and how they
/// lie in memory.
struct Crowd {
  enum class Layout { rows, columns, wide_rows };
  Index num = 3000;
  Index num_together = 1;
  Layout layout = Layout::rows;
  bool is_uniform = false;  ///< all weights are 1

  Index row_stride() const {
    return layout == Layout::rows ? 3 : layout == Layout::columns ? 1 : 5;
  }
  Index axis_stride() const { return layout == Layout::columns ? num : 1; }
};

/// Positions in [-1, 1], some at its edges, and in a periodic box some outside. Only those whose
/// windows begin in the cells' own planes along x.
template <class Real>
Columns<Real> some_particles(const MeshCells& cells, const Crowd& crowd, Random& random) {
  Columns<Real> columns;
  columns.pos.resize(static_cast<std::size_t>(crowd.num * std::max<Index>(crowd.row_stride(), 3)));
  const MeshAxis& x = cells.axis[0];
  for (Index i = 0; i < crowd.num;) {
    Real pos[3];
    const double from = static_cast<double>(x.first) / x.cells_per_length - 1;
    for (Real& p : pos) {
      p = static_cast<Real>(random.uniform(&p == pos ? from : -1, 1));
      if (x.periodic && random.one_in(20)) p += static_cast<Real>(2 * (random.below(9) - 4));
      if (random.one_in(20)) p = random.pick<Real>({-1, 1, 0, std::nextafter(Real{1}, Real{0})});
    }
    const MeshAxis axis = x;
    Index first = 0;
    kernels::with_order(cells.order, [&](auto order) {
      first = kernels::first_cell<decltype(order)::value>(axis, static_cast<double>(pos[0]));
    });
    if (first < axis.first) continue;
    for (const Index end = std::min(i + crowd.num_together, crowd.num); i < end; ++i) {
      for (Index a = 0; a < 3; ++a)
        columns.pos[static_cast<std::size_t>(i * crowd.row_stride() + a * crowd.axis_stride())] =
            pos[a];
      columns.mass.push_back(random.uniform(-1, 1));
    }
  }
  return columns;
}

/// The particles as views for kernels: a third of them, and the others.
template <class Real>
std::vector<kernels::SegmentView<Real>> views_of(const Crowd& crowd, const Real* pos,
                                                 const double* mass) {
  std::vector<kernels::SegmentView<Real>> views(2);
  views[0].num = views[1].first = crowd.num / 3;
  views[1].num = crowd.num - crowd.num / 3;
  for (kernels::SegmentView<Real>& view : views) {
    const Real* const first = pos + view.first * crowd.row_stride();
    for (Index a = 0; a < 3; ++a)
      view.pos[a] = {first + a * crowd.axis_stride(),
                     crowd.row_stride() * static_cast<Index>(sizeof(Real))};
    view.mass = RealColumn(mass + view.first);
  }
  return views;
}

template <class Real>
kernels::PaintInput<Real> painted_of(Span<const kernels::SegmentView<Real>> segments,
                                     const Crowd& crowd) {
  kernels::PaintInput<Real> painted;
  painted.particles.segments = segments;
  painted.particles.num = crowd.num;
  painted.is_uniform = crowd.is_uniform;
  painted.by_mass = !crowd.is_uniform;
  painted.scale = std::ldexp(1.0, 40);
  return painted;
}

/// The cells as painted alone by a rank that has them all, in rows with gaps between them.
template <class Real>
void check_painted(const Exec& exec, const MeshCells& cells,
                   const kernels::PaintInput<Real>& painted, const std::vector<Index>& units) {
  const kernels::LinearMap map{0.75, -1};
  const Index size_z = cells.axis[2].num_own;
  const Index pitch = size_z + 2;
  const Index num_rows = cells.axis[0].num_own * cells.axis[1].num_own;
  std::vector<double> expected(static_cast<std::size_t>(num_rows * pitch), 7);
  Index sum = 0;
  for (Index i = 0; i < num_rows * size_z; ++i) {
    const Index unit = units[static_cast<std::size_t>(i)];
    expected[static_cast<std::size_t>(i / size_z * pitch + i % size_z)] =
        static_cast<double>(unit) * map.factor + map.addend;
    sum += unit;
  }
  Buffer<double> values = upload(exec, std::vector<double>(expected.size(), 7));
  const kernels::PaintTarget<double> target{
      values.data(), {cells.axis[1].num_own * pitch, pitch}, map};
  on(exec, [&](const auto& e) { CHECK(kernels::paint_cells(e, painted, cells, target) == sum); });
  CHECK((to_host(exec, values) == expected));
}

template <class Real>
void check_all(const Exec& exec, const MeshCells& cells, const Crowd& crowd,
               const Columns<Real>& columns, Random& random) {
  const std::vector<kernels::SegmentView<Real>> at_home =
      views_of(crowd, columns.pos.data(), columns.mass.data());
  const Buffer<Real> pos = upload(exec, columns.pos);
  const Buffer<double> mass = upload(exec, columns.mass);
  const std::vector<kernels::SegmentView<Real>> there = views_of(crowd, pos.data(), mass.data());
  const Buffer<kernels::SegmentView<Real>> uploaded = upload(exec, there);

  std::vector<Index> expected(static_cast<std::size_t>(size_of(cells)));
  Buffer<Index> sums = upload(exec, expected);
  const auto here = painted_of<Real>(Span<const kernels::SegmentView<Real>>(at_home), crowd);
  const auto painted = painted_of<Real>(uploaded.span(), crowd);
  std::vector<double> values(static_cast<std::size_t>(crowd.num));
  std::vector<double> field;
  for (Index i = 0; i < size_of(cells); ++i) field.push_back(random.uniform());
  kernels::with_order(cells.order, [&](auto order) {
    constexpr int n = decltype(order)::value;
    const kernels::DepositParticle<n, false, Real> deposit_one{here, cells, Span<Index>(expected)};
    const kernels::ReadoutPoint<n, double, Real> read_one{
        here.particles, {cells, Span<const double>(field), Span<double>(values)}};
    for (Index i = 0; i < crowd.num; ++i) {
      deposit_one(i);
      read_one(i);
    }
  });
  on(exec, [&](const auto& e) { kernels::deposit(e, painted, cells, sums.span()); });
  CHECK((to_host(exec, sums) == expected));
  if (cells.axis[0].num_own == cells.axis[0].num) check_painted(exec, cells, painted, expected);

  const Buffer<double> cells_there = upload(exec, field);
  Buffer<double> read = upload(exec, std::vector<double>(static_cast<std::size_t>(crowd.num)));
  on(exec, [&](const auto& e) {
    kernels::readout_cells(e, painted.particles,
                           kernels::ReadoutCells<double>{cells, cells_there.span(), read.span()});
  });
  CHECK((to_host(exec, read) == values));
}

template <class Real>
void check(const Exec& exec, const MeshCells& cells, const Crowd& crowd, Random& random) {
  check_all(exec, cells, crowd, some_particles<Real>(cells, crowd, random), random);
}

}  // namespace

TEMPLATE_TEST_CASE("deposits and readout: as one particle after the other", "[parity][small]",
                   ON_EVERY_EXEC) {
  const auto exec = TestType::exec();
  if (!exec) return;  // has said so
  Random random(7);
  for (const Index order : {1, 2, 3, 4}) {
    for (const bool periodic : {true, false}) {
      for (const Index first_plane : {0, 5}) {
        INFO("order " << order << ", periodic " << periodic << ", from plane " << first_plane);
        check<float>(*exec, cells_of(order, {37, 20, 41}, periodic, first_plane), {}, random);
        check<double>(*exec, cells_of(order, {40, 1, 9}, periodic, first_plane), {}, random);
      }
    }
  }
}

TEMPLATE_TEST_CASE("deposits and readout: the last planes of axes whose cells 32 bits do not count",
                   "[parity][small]", ON_EVERY_EXEC) {
  const auto exec = TestType::exec();
  if (!exec) return;
  Random random(8);
  for (const Index order : {1, 2, 3, 4}) {
    for (const bool periodic : {true, false}) {
      for (const Index num : {(Index{1} << 31) - 8, (Index{1} << 31) - 7, Index{1} << 31,
                              (Index{1} << 32) + 5, Index{1} << 40}) {
        INFO("order " << order << ", periodic " << periodic << ", " << num << " planes");
        check<double>(*exec, cells_of(order, {num, 13, 9}, periodic, num - 20), {}, random);
      }
    }
  }
}

TEMPLATE_TEST_CASE("deposits and readout: particles that follow each other millions of cells apart",
                   "[parity]", ON_EVERY_EXEC) {
  const auto exec = TestType::exec();
  if (!exec) return;
  Random random(12);
  for (const Index order : {1, 4}) {
    INFO("order " << order);
    const MeshCells cells = cells_of(order, {1, 1, Index{1} << 22}, order == 1, 0);
    check<float>(*exec, cells, {1000, 8}, random);
  }
}

TEMPLATE_TEST_CASE(
    "deposits and readout: far out positions are rounded, and two that are half a box apart may be "
    "a "
    "whole one",
    "[parity]", ON_EVERY_EXEC) {
  const auto exec = TestType::exec();
  if (!exec) return;
  Random random(10);
  const Crowd crowd{192};
  const double far = std::ldexp(1.0, 52);
  Columns<double> columns;
  for (Index i = 0; i < crowd.num; ++i) {
    for (int a = 0; a < 3; ++a) columns.pos.push_back(far - 1 + 0.5 * static_cast<double>(i % 3));
    columns.mass.push_back(1);
  }
  for (const Index order : {1, 2, 3, 4}) {
    MeshCells cells = cells_of(order, {64, 64, 64}, true, 0);
    for (MeshAxis& axis : cells.axis) {
      axis.lo = -1.5;
      axis.offset = 0.5;
    }
    check_all<double>(*exec, cells, crowd, columns, random);
  }
}

TEMPLATE_TEST_CASE("deposits and readout: many particles in any order and layout", "[parity]",
                   ON_EVERY_EXEC) {
  const auto exec = TestType::exec();
  if (!exec) return;
  Random random(9);
  using Layout = Crowd::Layout;
  const Crowd crowds[] = {{51000, 1, Layout::rows, false},
                          {51000, 1, Layout::columns, true},
                          {51000, 2, Layout::wide_rows, false},
                          {51000, 300, Layout::rows, true},
                          {51000, 300, Layout::columns, false}};
  for (const Index order : {1, 2, 3, 4}) {
    if (ZHALO_CHECKED && order % 2 == 1) continue;
    for (const Crowd& crowd : crowds) {
      INFO("order " << order << ", " << crowd.num_together << " together, layout "
                    << static_cast<int>(crowd.layout));
      const bool periodic = random.one_in(2);
      check<float>(*exec, cells_of(order, {37, 20, 41}, periodic, 0), crowd, random);
      check<double>(*exec, cells_of(order, {37, 20, 41}, !periodic, 5), crowd, random);
    }
  }
}

TEMPLATE_TEST_CASE("deposits and readout: a grid of many slabs, few particles and many", "[parity]",
                   ON_EVERY_EXEC) {
  const auto exec = TestType::exec();
  if (!exec) return;
  Random random(11);
  for (const Index order : {1, 2, 3, 4}) {
    for (const bool periodic : {true, false}) {
      INFO("order " << order << ", periodic " << periodic);
      const MeshCells cells = cells_of(order, {137, 41, 50}, periodic, 0);
      const bool is_uniform = random.one_in(2);
      check<float>(*exec, cells, {900, 3, Crowd::Layout::columns, !is_uniform}, random);
      if (!ZHALO_CHECKED || order == 4)
        check<float>(*exec, cells, {56000, 1, Crowd::Layout::rows, is_uniform}, random);
    }
  }
}

}  // namespace zhalo::testing
