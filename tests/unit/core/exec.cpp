/// The choice of where to compute, and the host's loops and sort.
#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>

#include "kernels/host/parallel.hpp"
#include "kernels/sort.hpp"
#include "tests/support/omp_threads.hpp"
#include "tests/support/random.hpp"
#include "zhalo/comm/context.hpp"
#include "zhalo/core/error.hpp"

namespace {

using namespace zhalo;
using Catch::Contains;
using Catch::StartsWith;

struct Square {
  Span<Index> to;
  void operator()(Index i) const { to[i] += i * i; }
};

struct FailAt {
  Index bad;
  void operator()(Index i) const {
    if (i == bad) throw InputError("element " + std::to_string(i));
  }
};

}  // namespace

TEST_CASE("host_exec: threads") {
  CHECK(available_threads() >= 1);
  const auto threads_of = [](int wanted) { return std::get<Host>(host_exec(wanted)).threads; };
  {
    const testing::OmpThreads not_set(nullptr);
    CHECK(threads_of(0) == available_threads());
    CHECK(threads_of(3) == 3);
  }
  for (const char* set : {"5", " 5 ", "5,2"}) {
    const testing::OmpThreads five(set);
    CHECK(threads_of(0) == 5);
    CHECK(threads_of(3) == 3);
    CHECK(std::get<Host>(Context{}.exec).threads == 5);
  }
  {
    const testing::OmpThreads unclear("many");
    CHECK(threads_of(0) == available_threads());
  }
  const testing::OmpThreads too_many("100000");
  CHECK_THROWS_WITH(host_exec(), Contains("100000") && Contains("at most 4096"));
  CHECK_THROWS_AS(host_exec(-1), InputError);
  CHECK_THROWS_WITH(host_exec(-7), Contains("-7") && Contains("positive"));
}

TEST_CASE("describe: names the host, the threads and the vector instructions") {
  CHECK_THAT(describe(host_exec(1)), StartsWith("host, 1 thread, "));
  CHECK_THAT(describe(host_exec(8)), StartsWith("host, 8 threads, "));
  CHECK(describe(host_exec(8)).size() > std::string("host, 8 threads, ").size());
  const testing::OmpThreads not_set(nullptr);
  CHECK(describe(Host{}) == describe(host_exec(0)));
}

TEST_CASE("devices: a report that agrees with itself, an error that gives the reason") {
  const DeviceReport report = query_devices();
  CHECK(report.num_devices >= 0);
  CHECK((report.num_devices > 0) == report.reason.empty());
  if (!report.built_with_cuda) CHECK(report.num_devices == 0);
  CHECK_THROWS_AS(cuda_exec(report.num_devices), DeviceError);
  CHECK_THROWS_AS(cuda_exec(-1), DeviceError);
  if (report.num_devices == 0) CHECK_THROWS_WITH(cuda_exec(), Contains(report.reason));
}

TEST_CASE("every Exec has its own pool, copies share it") {
  const Exec a = host_exec(1);
  const Exec b = host_exec(1);
  const Exec copy = a;
  CHECK(memory(a) != memory(b));
  CHECK(memory(a) == memory(copy));
}

TEST_CASE("for_each: every element once, for any number of elements and threads") {
  for (const int threads : {0, 1, 2, 5}) {
    for (const Index num : {0, 1, 2, 3, 17, 1000, 16'384, 16'385, 100'000}) {
      const Host host{threads};
      std::vector<Index> to(static_cast<std::size_t>(num), 1);
      kernels::for_each(host, num, Square{to});
      Index wrong = 0;
      for (Index i = 0; i < num; ++i) wrong += to[static_cast<std::size_t>(i)] == 1 + i * i ? 0 : 1;
      REQUIRE(wrong == 0);
    }
  }
}

TEST_CASE("for_each: an exception of any thread comes out, once") {
  const int threads = GENERATE(1, 3);
  CHECK_THROWS_WITH(kernels::for_each(Host{threads}, 100'000, FailAt{77'777}), "element 77777");
  CHECK_NOTHROW(kernels::for_each(Host{threads}, 100, FailAt{100}));
}

TEST_CASE("transform_reduce: the same bits for any number of threads") {
  const Index num = 100'000;
  const auto map = [](Index i) { return 1 / static_cast<double>(i + 1); };
  const auto add = [](double a, double b) { return a + b; };
  const double one = kernels::transform_reduce(Host{1}, num, 0.0, map, add);
  CHECK(one == Approx(12.090146129863428)
                   .epsilon(1e-12));  // the harmonic number ln n + 0.57721566490153 + 1 / (2 n)
  for (const int threads : {2, 3, 7})
    CHECK(kernels::transform_reduce(Host{threads}, num, 0.0, map, add) == one);
  CHECK(kernels::transform_reduce(Host{2}, 0, 5.0, map, add) == 5.0);
}

TEST_CASE("exclusive_scan: sums of what lies before") {
  for (const int threads : {1, 3}) {
    for (const Index num : {0, 1, 2, 16'384, 16'385, 70'000}) {
      testing::Random random(static_cast<std::uint64_t>(num));
      std::vector<Index> values(static_cast<std::size_t>(num));
      for (Index& value : values) value = random.below(1000) * (Index{1} << 30);
      std::vector<Index> expected(values.size());
      std::exclusive_scan(values.begin(), values.end(), expected.begin(), Index{0});
      const Index total = std::accumulate(values.begin(), values.end(), Index{0});
      CHECK(kernels::exclusive_scan(Host{threads}, values) == total);
      CHECK(values == expected);
    }
  }
}

TEST_CASE("sort_pairs: a stable sort by the lowest bits, for any distribution of keys") {
  const Index num =
      GENERATE(0, 1, 2, 48, 49, 1000, 16'384, 16'385, ZHALO_CHECKED ? 20'000 : 60'000);
  const int bits = GENERATE(0, 1, 7, 8, 9, 20, 30, 62, 63);
  const int distribution = GENERATE(0, 1, 2, 3);
  const int threads = 1 + static_cast<int>(num % 3);
  testing::Random random(static_cast<std::uint64_t>(num * 100 + bits));
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  std::vector<std::uint64_t> keys(static_cast<std::size_t>(num));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    switch (distribution) {
      case 0: keys[i] = random.bits() & mask; break;  // even
      case 1: keys[i] = mask; break;                  // all equal
      case 2:
        keys[i] = (random.one_in(3) ? random.bits() : random.bits() % 5) & mask;
        break;                                      // most in one corner
      default: keys[i] = (mask - i) & mask; break;  // backwards
    }
  }
  std::vector<LocalIndex> values(keys.size());
  std::iota(values.begin(), values.end(), LocalIndex{0});
  std::vector<LocalIndex> expected = values;
  std::stable_sort(expected.begin(), expected.end(),
                   [&](LocalIndex a, LocalIndex b) { return keys[a] < keys[b]; });
  std::vector<std::uint64_t> expected_keys(keys);
  std::sort(expected_keys.begin(), expected_keys.end());
  std::vector<std::uint64_t> spare_keys(keys.size());
  std::vector<LocalIndex> spare_values(keys.size());
  kernels::sort_pairs(Host{threads}, {keys, values, spare_keys, spare_values}, bits);
  CAPTURE(num, bits, distribution, threads);
  CHECK(keys == expected_keys);
  CHECK(values == expected);
}
