// Sums of power spectra on every Exec, bit for bit against one mode after the other.
#include <algorithm>
#include <cmath>

#include "kernels/common/modes/powers.hpp"
#include "tests/parity/backends.hpp"
#include "tests/support/random.hpp"

namespace zhalo::testing {
namespace {

using kernels::PowerParts;
using kernels::PowerView;

/// Numbers of modes and bins, all on the host.
template <class T>
struct Case {
  kernels::GridRows rows;
  std::vector<T> a;
  std::vector<T> b;
  std::vector<double> squares[3];
  std::vector<double> along[3];
  std::vector<double> weights;  ///< along the last axis
  std::vector<double> factors[3];
  std::vector<double> edges;
  Index num_multipoles = 0;
};

template <class T>
Case<T> random_case(Random& random, bool is_whole) {
  Case<T> made;
  for (Index& extent : made.rows.extent) extent = 1 + random.below(20);
  made.rows.stride[1] = made.rows.extent[2];
  made.rows.stride[0] = made.rows.extent[1] * made.rows.extent[2];
  for (Index i = 0; i < 2 * made.rows.size(); ++i) {
    made.a.push_back(static_cast<T>(random.uniform(-1, 1)));
    made.b.push_back(static_cast<T>(random.log_uniform(1e-6, 1e6)));
  }
  const double unit = is_whole ? 1 : random.uniform(0.3, 3);
  const bool has_factors = random.below(2) == 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const Index num = made.rows.extent[axis];
    for (Index i = 0; i < num; ++i) {
      const Index wave = axis < 2 && 2 * i > num ? i - num : i;
      made.squares[axis].push_back(std::pow(unit * static_cast<double>(wave), 2));
      made.along[axis].push_back(axis == 1 ? unit * static_cast<double>(wave) : 0);
      if (axis == 2) made.weights.push_back(i > 0 ? 2 : 1);
      if (has_factors) made.factors[axis].push_back(random.uniform(0.5, 3));
    }
  }
  double edge = random.uniform(0, 3);
  for (Index i = random.below(30); i >= 0; --i) {
    made.edges.push_back(is_whole ? std::round(edge) : edge);  // some bins without a number
    edge += random.uniform(0, 20);
  }
  made.num_multipoles = random.below(4);
  return made;
}

/// By the definition, in the order of parts, rows and modes.
template <class T>
std::vector<double> sums_of(const Case<T>& of) {
  const Index width = 3 + of.num_multipoles;
  const Index num_bins = static_cast<Index>(of.edges.size()) - 1;
  std::vector<double> sums(static_cast<std::size_t>(num_bins * width));
  if (sums.empty()) return sums;
  const PowerParts parts(of.rows, num_bins * width);
  const auto at = [](const std::vector<double>(&of_axis)[3], std::size_t axis, Index i) {
    return of_axis[axis][static_cast<std::size_t>(i)];
  };
  for (Index part = 0; part < parts.num(); ++part) {
    std::vector<double> own(sums.size());
    for (Index i = parts.first_row(part) * of.rows.extent[2];
         i < parts.end_row(part) * of.rows.extent[2]; ++i) {
      const Index x = i / of.rows.stride[0];
      const Index y = i / of.rows.extent[2] % of.rows.extent[1];
      const Index z = i % of.rows.extent[2];
      const double square = at(of.squares, 0, x) + at(of.squares, 1, y) + at(of.squares, 2, z);
      const auto bin =
          std::upper_bound(of.edges.begin(), of.edges.end(), square) - of.edges.begin() - 1;
      if (square == 0 || bin < 0 || bin >= num_bins) continue;
      const double weight = of.weights[static_cast<std::size_t>(z)];
      const double by = of.factors[0].empty()
                            ? 1
                            : at(of.factors, 0, x) * at(of.factors, 1, y) * at(of.factors, 2, z);
      const auto times = [by](T number) {
        return static_cast<double>(static_cast<T>(static_cast<double>(number) * by));
      };
      const auto m = static_cast<std::size_t>(2 * i);
      const double power =
          weight * (times(of.a[m]) * times(of.b[m]) + times(of.a[m + 1]) * times(of.b[m + 1]));
      double* const to = &own[static_cast<std::size_t>(bin * width)];
      to[0] += weight;
      to[1] += weight * std::sqrt(square);
      to[2] += power;
      const double along = at(of.along, 0, x) + at(of.along, 1, y) + at(of.along, 2, z);
      kernels::add_multipoles({to + 3, of.num_multipoles}, along / std::sqrt(square), power);
    }
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += own[i];
  }
  return sums;
}

template <class T>
std::vector<double> sums_on(const Exec& exec, const Case<T>& of) {
  const Buffer<T> a = upload(exec, of.a);
  const Buffer<T> b = upload(exec, of.b);
  const Buffer<double> edges = upload(exec, of.edges);
  const Buffer<double> weights = upload(exec, of.weights);
  std::vector<Buffer<double>> tables;
  const auto table_of = [&](const std::vector<double>(&numbers)[3]) {
    kernels::AxisTables table;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      tables.push_back(upload(exec, numbers[axis]));
      table.of[axis] = Span<const double>(tables.back().span());
    }
    return table;
  };
  PowerView<T> view;
  view.rows = of.rows;
  view.a = a.span();
  view.b = b.span();
  view.squares = table_of(of.squares);
  view.along = table_of(of.along);
  view.weights = weights.span();
  view.factors = table_of(of.factors);
  view.edges = edges.span();
  view.num_multipoles = of.num_multipoles;
  return on(exec, [&](const auto& e) { return kernels::sum_powers(e, view); });
}

}  // namespace

TEMPLATE_TEST_CASE("power spectra sum modes in one order everywhere", "[parity][small]",
                   ON_EVERY_EXEC) {
  const auto exec = TestType::exec();
  if (!exec) return;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    INFO("seed " << seed);
    const Case<float> in_float = random_case<float>(random, seed % 2 == 0);
    const Case<double> in_double = random_case<double>(random, seed % 2 == 0);
    CHECK((sums_on(*exec, in_float) == sums_of(in_float)));
    CHECK((sums_on(*exec, in_double) == sums_of(in_double)));
  }
}

TEST_CASE("the parts of a power spectrum are all rows, each once", "[parity]") {
  for (const Index length : {1, 1000, 1 << 20, 1 << 22, 1 << 23}) {
    for (const Index num_sums : {1, 1000, 1 << 20, 1 << 23}) {
      const PowerParts parts({{7, 15, length}, {}, 0}, num_sums);
      Index next = 0;
      for (Index part = 0; part < parts.num(); ++part) {
        CHECK(parts.first_row(part) == next);
        next = parts.end_row(part);
        CHECK(next >= parts.first_row(part));
        CHECK(next - parts.first_row(part) <= parts.rows_of_piece);
      }
      CHECK(next == 105);
    }
  }
}

}  // namespace zhalo::testing
