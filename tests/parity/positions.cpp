// Looking at positions, keys and sorted coordinates on every Exec, against their definitions.
#include <cmath>
#include <limits>

#include "src/domain/positions.hpp"
#include "tests/parity/uploaded.hpp"
#include "tests/support/random.hpp"

namespace zhalo::testing {
namespace {

constexpr Index num_particles = 20011;

/// Multiples of 2^-20 in [0, 1), so that all that follows is exact in float.
template <class Real>
Columns<Real> exact_columns(int dimensions, std::uint64_t seed) {
  Random random(seed);
  Columns<Real> columns;
  columns.dimensions = dimensions;
  for (Index i = 0; i < num_particles * dimensions; ++i) {
    columns.pos.push_back(
        static_cast<Real>(std::ldexp(static_cast<double>(random.below(1 << 20)), -20)));
  }
  return columns;
}

/// Bit by bit, x first.
std::uint64_t interleaved(const std::vector<std::uint64_t>& cell, int bits) {
  std::uint64_t key = 0;
  for (int bit = bits - 1; bit >= 0; --bit) {
    for (const std::uint64_t c : cell) key = key << 1 | (c >> bit & 1);
  }
  return key;
}

template <class Real>
void check_keys(const Exec& exec, int dimensions, int bits) {
  Columns<Real> columns = exact_columns<Real>(dimensions, static_cast<std::uint64_t>(bits));
  std::vector<std::uint64_t> expected;
  for (Index i = 0; i < num_particles; ++i) {
    std::vector<std::uint64_t> cell;
    for (int axis = 0; axis < dimensions; ++axis) {
      Real& x = columns.pos[static_cast<std::size_t>(i * dimensions + axis)];
      cell.push_back(static_cast<std::uint64_t>(std::ldexp(static_cast<double>(x), bits)));
      if (i % 5 == 0) x = static_cast<Real>(x + (i % 2 == 0 ? 1 : -1));  // its image
    }
    expected.push_back(interleaved(cell, bits));
  }
  const Uploaded<Real> uploaded(exec, columns);
  const SegmentTable<Real> input(exec, uploaded.particles());
  kernels::KeyFrame frame;
  frame.box = Box::periodic_cube(1, dimensions);
  frame.bits_per_axis = bits;
  frame.cells_per_length = std::ldexp(1.0, bits);
  Buffer<std::uint64_t> keys(exec, num_particles, "test");
  Buffer<LocalIndex> order(exec, num_particles, "test");
  on(exec,
     [&](const auto& e) { kernels::make_keys(e, input.view(), frame, keys.span(), order.span()); });
  CHECK(to_host(exec, keys) == expected);
  const std::vector<LocalIndex> indices = to_host(exec, order);
  for (std::size_t i = 0; i < indices.size(); i += 97) CHECK(indices[i] == i);
}

template <class Real>
void check_gather(const Exec& exec, int dimensions) {
  const Columns<Real> columns = exact_columns<Real>(dimensions, 9);
  const Uploaded<Real> uploaded(exec, columns);
  const SegmentTable<Real> input(exec, uploaded.particles());
  kernels::KeyFrame frame;
  frame.box = Box::periodic_cube(1, dimensions);
  frame.scale = 0.25;
  std::vector<LocalIndex> order;
  for (Index i = 0; i < num_particles; ++i)
    order.push_back(static_cast<LocalIndex>(i * 7 % num_particles));
  const Buffer<LocalIndex> uploaded_order = upload(exec, order);
  Buffer<Real> axes[3];
  kernels::SortedPositions<Real> sorted;
  sorted.num = num_particles;
  for (int axis = 0; axis < 3; ++axis) {
    axes[axis] = Buffer<Real>(exec, num_particles, "test");
    sorted.axis[axis] = axes[axis].data();
  }
  on(exec, [&](const auto& e) {
    kernels::gather_positions(e, input.view(), frame, uploaded_order.span(), sorted);
  });
  for (int axis = 0; axis < 3; ++axis) {
    std::vector<Real> expected;
    for (const LocalIndex i : order) {
      expected.push_back(axis < dimensions
                             ? columns.pos[static_cast<std::size_t>(Index{i} * dimensions + axis)] /
                                   4
                             : Real{0});
    }
    CHECK(to_host(exec, axes[axis]) == expected);
  }
}

/// x is periodic in [0, 1), y is bounded by [0, 1], z is not bounded.
Box mixed_box() {
  Box box;
  box.length = {{1, 1, 0}};
  box.periodic[0] = true;
  return box;
}

template <class Real>
kernels::PositionSummary summarize(const Exec& exec, const Columns<Real>& columns) {
  const Uploaded<Real> uploaded(exec, columns);
  const SegmentTable<Real> input(exec, uploaded.particles());
  return on(exec, [&](const auto& e) {
    return kernels::summarize_positions(e, input.view(), mixed_box());
  });
}

template <class Real>
void check_summary(const Exec& exec) {
  Columns<Real> columns = exact_columns<Real>(3, 10);
  const auto set = [&](Index i, int axis, double x) {
    columns.pos[static_cast<std::size_t>(3 * i + axis)] = static_cast<Real>(x);
  };
  set(100, 0, 1.0);
  set(101, 0, -3.0);
  set(102, 0, 0.0);
  set(103, 1, 1.0);
  set(104, 2, 1000.0);
  set(19000, 2, -2000.0);
  const auto fine = summarize(exec, columns);
  CHECK(fine.num_wrapped == 2);
  CHECK(fine.num_not_finite == 0);
  CHECK(fine.num_outside == 0);
  CHECK(fine.lo[0] == -3.0);
  CHECK(fine.hi[0] == 1.0);
  CHECK(fine.lo[2] == -2000.0);
  CHECK(fine.hi[2] == 1000.0);

  set(17000, 0, std::numeric_limits<double>::quiet_NaN());
  set(12345, 2, -std::numeric_limits<double>::infinity());
  for (const Index i : {19999, 3333, 7777}) set(i, 1, 1.5);
  const auto bad = summarize(exec, columns);
  CHECK(bad.num_not_finite == 2);
  CHECK(bad.first_not_finite == 12345);
  CHECK(bad.num_outside == 3);
  CHECK(bad.first_outside == 3333);
}

}  // namespace

TEMPLATE_TEST_CASE("keys are the interleaved bits of the cells", "[parity][small]", ON_EVERY_EXEC) {
  const auto exec = TestType::exec();
  if (!exec) return;
  check_keys<float>(*exec, 3, 21);
  check_keys<double>(*exec, 3, 5);
  check_keys<float>(*exec, 2, 31);
  check_keys<double>(*exec, 2, 0);
}

TEMPLATE_TEST_CASE("positions are gathered in order, wrapped and scaled", "[parity][small]",
                   ON_EVERY_EXEC) {
  const auto exec = TestType::exec();
  if (!exec) return;
  check_gather<float>(*exec, 3);
  check_gather<double>(*exec, 2);
}

TEMPLATE_TEST_CASE("one look at all positions", "[parity][small]", ON_EVERY_EXEC) {
  const auto exec = TestType::exec();
  if (!exec) return;
  check_summary<float>(*exec);
  check_summary<double>(*exec);
}

}  // namespace zhalo::testing
