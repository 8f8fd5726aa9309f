// Positions that came from other ranks, sorted on every Exec, against std::stable_sort by their
// keys. Keys are made from their definition, bit by bit.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "kernels/particles.hpp"
#include "tests/parity/backends.hpp"
#include "tests/support/random.hpp"

namespace zhalo::testing {
namespace {

/// Where the particles are, in a unit cube or square.
enum class Arrangement {
  everywhere,
  one_point,
  in_a_cluster,  ///< but for every 50th
  /// Keys just below the half of all, and just above: they agree in no high bit, yet lie close.
  around_half_of_keys,
};

double coordinate(Arrangement arrangement, Index i, int axis, Random& random) {
  if (arrangement == Arrangement::one_point) return 0.7;
  if (arrangement == Arrangement::in_a_cluster && i % 50 != 0) return 0.3 + 1e-6 * random.uniform();
  if (arrangement != Arrangement::around_half_of_keys) return random.uniform();
  const double off = 1e-3 * (1 + random.uniform());
  if (i % 2 == 0) return axis == 0 ? 0.5 - off : 1 - off;
  return axis == 0 ? 0.5 + off : off;
}

struct Request {
  Arrangement arrangement;
  Index num;
  int dimensions;
  int bits;  ///< of each axis
  int num_runs;
  int num_low_bits = 0;  ///< of the keys, by which runs are in no order
};

/// Positions in the order of arrival, multiplied by the scale: each run is in the order of the high
/// bits of the keys. Indices on their ranks descend.
template <class Real>
struct Arrived {
  kernels::KeyFrame frame;
  std::vector<kernels::PositionRecord<Real>> records;
  std::vector<std::uint64_t> keys;
  std::vector<Index> global_index;
  std::vector<Index> first_of_run{0};
  std::vector<Index> first_of_rank;  ///< global index of the first particle that a rank brought

  explicit Arrived(const Request& wanted) {
    frame.box = Box::periodic_cube(1, wanted.dimensions);
    frame.bits_per_axis = wanted.bits;
    frame.cells_per_length = std::ldexp(1.0, wanted.bits);
    frame.scale = 8;
    Random random(static_cast<std::uint64_t>(wanted.num + wanted.bits));
    for (int run = 1; run <= wanted.num_runs; ++run) {
      // Of three or more, the second one is empty.
      const Index third = run <= 2 ? wanted.num / 3 : wanted.num * 2 / 3;
      add_run(wanted, run == wanted.num_runs ? wanted.num : third, random);
    }
  }

  std::vector<Real> axis(std::size_t axis) const {
    std::vector<Real> coordinates;
    for (const auto& record : records) coordinates.push_back(record.pos[axis]);
    return coordinates;
  }

 private:
  /// Bit by bit, x first.
  std::uint64_t key_of(const Vec<Real, 3>& scaled) const {
    std::uint64_t key = 0;
    for (int bit = frame.bits_per_axis - 1; bit >= 0; --bit) {
      for (int axis = 0; axis < frame.box.dimensions; ++axis) {
        const double cell = std::ldexp(static_cast<double>(scaled[axis]), frame.bits_per_axis - 3);
        key = key << 1 | (static_cast<std::uint64_t>(cell) >> bit & 1);
      }
    }
    return key;
  }

  void add_run(const Request& wanted, Index end, Random& random) {
    std::vector<std::pair<std::uint64_t, Vec<Real, 3>>> run;
    for (Index i = first_of_run.back(); i < end; ++i) {
      Vec<Real, 3> scaled{};
      for (int axis = 0; axis < wanted.dimensions; ++axis)
        scaled[axis] = static_cast<Real>(coordinate(wanted.arrangement, i, axis, random)) * 8;
      // What float rounds up to 1 is outside.
      for (int axis = 0; axis < wanted.dimensions; ++axis)
        scaled[axis] = std::min(scaled[axis], std::nextafter(Real{8}, Real{0}));
      run.emplace_back(key_of(scaled), scaled);
    }
    std::stable_sort(run.begin(), run.end(), [&](const auto& a, const auto& b) {
      return a.first >> wanted.num_low_bits < b.first >> wanted.num_low_bits;
    });
    first_of_rank.push_back(Index{1} << 40 | end);
    auto index = static_cast<LocalIndex>(2 * run.size());
    for (const auto& [key, scaled] : run) {
      keys.push_back(key);
      records.push_back({{scaled[0], scaled[1], scaled[2]}, --index});
      global_index.push_back(first_of_rank.back() + index);
    }
    first_of_run.push_back(end);
  }
};

template <class T>
std::vector<T> in_order(const std::vector<T>& values, const std::vector<LocalIndex>& order) {
  std::vector<T> ordered;
  ordered.reserve(order.size());
  for (const LocalIndex i : order) ordered.push_back(values[i]);
  return ordered;
}

template <class Real>
void check(const Exec& exec, const Request& wanted) {
  CAPTURE(static_cast<int>(wanted.arrangement), wanted.num, wanted.dimensions, wanted.bits,
          wanted.num_low_bits);
  const Arrived<Real> arrived(wanted);
  REQUIRE(static_cast<Index>(arrived.keys.size()) == wanted.num);
  std::vector<LocalIndex> expected(arrived.keys.size());
  std::iota(expected.begin(), expected.end(), LocalIndex{0});
  std::stable_sort(expected.begin(), expected.end(),
                   [&](LocalIndex a, LocalIndex b) { return arrived.keys[a] < arrived.keys[b]; });

  kernels::ArrivedPositions<Real> given;
  given.first_of_run = arrived.first_of_run;
  given.num_low_bits = wanted.num_low_bits;
  given.records = upload(exec, arrived.records);
  const auto offsets = upload(exec, arrived.first_of_run);
  const auto firsts = upload(exec, arrived.first_of_rank);
  given.sources = {offsets.span(), firsts.span()};
  Buffer<Index> global_index(exec, wanted.num, "global indices");
  const auto sorted = on(exec, [&](const auto& e) {
    return kernels::sort_arrived(e, std::move(given), arrived.frame, global_index.span());
  });
  CHECK(to_host(exec, global_index) == in_order(arrived.global_index, expected));
  CHECK(to_host(exec, sorted.order) == expected);
  CHECK(to_host(exec, sorted.keys) == in_order(arrived.keys, expected));
  for (std::size_t axis = 0; axis < 3; ++axis)
    CHECK(to_host(exec, sorted.pos[axis]) == in_order(arrived.axis(axis), expected));
}

template <class Real>
void check_all(const Exec& exec, Index num, std::initializer_list<int> counts_of_bits) {
  for (const Arrangement arrangement :
       {Arrangement::everywhere, Arrangement::one_point, Arrangement::in_a_cluster,
        Arrangement::around_half_of_keys}) {
    for (const int bits : counts_of_bits) {
      check<Real>(exec, {arrangement, num, 3, std::min(bits, 21), 4});
      check<Real>(exec, {arrangement, num, 2, bits, 3});
    }
  }
}

}  // namespace

TEMPLATE_TEST_CASE("few positions from other ranks are sorted stably by their keys",
                   "[parity][small]", ON_EVERY_EXEC) {
  const auto exec = TestType::exec();
  if (!exec) return;
  for (const Index num : {0, 1, 2, 49, 700}) {
    check_all<float>(*exec, num, {0, 3, 31});
    check_all<double>(*exec, num, {1, 31});
  }
}

constexpr Index many = ZHALO_CHECKED ? 20'000 : 50'000;

TEMPLATE_TEST_CASE("many positions from other ranks are sorted stably by their keys", "[parity]",
                   ON_EVERY_EXEC) {
  const auto exec = TestType::exec();
  if (!exec) return;
  check_all<float>(*exec, many, {0, 9, 31});
  check_all<double>(*exec, many, {2, 31});
}

TEMPLATE_TEST_CASE("runs that are in the order of few high bits are sorted by all bits", "[parity]",
                   ON_EVERY_EXEC) {
  const auto exec = TestType::exec();
  if (!exec) return;
  for (const Arrangement arrangement :
       {Arrangement::everywhere, Arrangement::one_point, Arrangement::in_a_cluster,
        Arrangement::around_half_of_keys}) {
    for (const Index num : {Index{1}, Index{700}, many}) {
      for (const int num_high_bits : {0, 1, 3, 11, 20}) {
        check<float>(*exec, {arrangement, num, 3, 21, 4, 63 - num_high_bits});
        check<double>(*exec, {arrangement, num, 2, 31, 3, 62 - num_high_bits});
      }
    }
  }
}

TEMPLATE_TEST_CASE("a run with more positions than one thread sorts alone", "[parity]",
                   ON_EVERY_EXEC) {
  const auto exec = TestType::exec();
  if (!exec) return;
  check<float>(*exec, {Arrangement::in_a_cluster, 300'000, 3, 21, 2});
  check<double>(*exec, {Arrangement::one_point, 300'000, 2, 31, 2});
  // One part with two slices: as it came, and too large for that.
  check<float>(*exec, {Arrangement::everywhere, 60'000, 3, 21, 2, 63});
  check<float>(*exec, {Arrangement::everywhere, 70'000, 3, 21, 2, 63});
  check<float>(*exec, {Arrangement::in_a_cluster, 300'000, 3, 21, 2, 53});
}

}  // namespace zhalo::testing
