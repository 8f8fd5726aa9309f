// for_each, scan, reduce, sort and memory on every Exec.
#include "tests/parity/loops.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "kernels/sort.hpp"
#include "src/core/host_copies.hpp"
#include "tests/parity/backends.hpp"
#include "tests/support/random.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::testing {
namespace {

std::vector<Index> random_values(Index num, std::uint64_t seed) {
  Random random(seed);
  std::vector<Index> values(static_cast<std::size_t>(num));
  for (Index& value : values) value = random.below(1000) - 100;
  return values;
}

/// Around the sizes of blocks, chunks and grids.
constexpr Index sizes[] = {0, 1, 2, 255, 256, 257, 16383, 16384, 16385, 65535, 65536, 100001};

std::uint64_t lowest(int bits) {
  return bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

/// Sorts keys with their indices as values, and compares with std::stable_sort.
void check_sort(const Exec& exec, const std::vector<std::uint64_t>& keys, int bits) {
  std::vector<LocalIndex> indices(keys.size());
  std::iota(indices.begin(), indices.end(), LocalIndex{0});
  const auto num = static_cast<Index>(keys.size());
  Buffer<std::uint64_t> sorted_keys = upload(exec, keys);
  Buffer<LocalIndex> sorted_indices = upload(exec, indices);
  Buffer<std::uint64_t> spare_keys(exec, num, "test");
  Buffer<LocalIndex> spare_indices(exec, num, "test");
  const kernels::SortPairs pairs{sorted_keys.span(), sorted_indices.span(), spare_keys.span(),
                                 spare_indices.span()};
  on(exec, [&](const auto& e) { kernels::sort_pairs(e, pairs, bits); });

  std::stable_sort(indices.begin(), indices.end(),
                   [&](LocalIndex a, LocalIndex b) { return keys[a] < keys[b]; });
  std::vector<std::uint64_t> expected;
  for (const LocalIndex index : indices) expected.push_back(keys[index]);
  INFO(num << " keys of " << bits << " bits");
  CHECK(to_host(exec, sorted_keys) == expected);
  CHECK(to_host(exec, sorted_indices) == indices);
}

void check_sorts(const Exec& exec, Index num, int bits) {
  Random random(static_cast<std::uint64_t>(num + bits));
  std::vector<std::uint64_t> keys(static_cast<std::size_t>(num));
  for (auto& key : keys) key = random.bits() & lowest(bits);
  check_sort(exec, keys, bits);
  for (auto& key : keys) key = (random.bits() % 7 << (bits / 2)) & lowest(bits);  // many duplicates
  check_sort(exec, keys, bits);
}

}  // namespace

TEMPLATE_TEST_CASE("for_each visits every index once", "[parity][small]", ON_EVERY_EXEC) {
  const auto exec = TestType::exec();
  if (!exec) return;
  for (const Index num : sizes) {
    std::vector<Index> expected = random_values(num, 1);
    Buffer<Index> values = upload(*exec, expected);
    on(*exec, [&](const auto& e) { add_indices(e, values.span()); });
    for (Index i = 0; i < num; ++i) expected[static_cast<std::size_t>(i)] += i + 1;
    INFO(num);
    CHECK(to_host(*exec, values) == expected);
  }
}

TEMPLATE_TEST_CASE("exclusive_scan and its total", "[parity][small]", ON_EVERY_EXEC) {
  const auto exec = TestType::exec();
  if (!exec) return;
  for (const Index num : sizes) {
    const std::vector<Index> values = random_values(num, 2);
    Buffer<Index> scanned = upload(*exec, values);
    const Index total = on(*exec, [&](const auto& e) { return scan(e, scanned.span()); });
    std::vector<Index> expected(values.size());
    std::exclusive_scan(values.begin(), values.end(), expected.begin(), Index{0});
    INFO(num);
    CHECK(total == std::accumulate(values.begin(), values.end(), Index{0}));
    CHECK(to_host(*exec, scanned) == expected);
  }
}

TEMPLATE_TEST_CASE("transform_reduce", "[parity][small]", ON_EVERY_EXEC) {
  const auto exec = TestType::exec();
  if (!exec) return;
  for (const Index num : sizes) {
    const std::vector<Index> values = random_values(num, 3);
    const Buffer<Index> uploaded = upload(*exec, values);
    Digest expected{0, std::numeric_limits<Index>::max(), std::numeric_limits<Index>::min(), num};
    for (const Index value : values) {
      expected.sum += value;
      expected.smallest = std::min(expected.smallest, value);
      expected.largest = std::max(expected.largest, value);
    }
    INFO(num);
    CHECK(on(*exec, [&](const auto& e) { return digest(e, uploaded.span()); }) == expected);
  }
}

TEMPLATE_TEST_CASE("select, and loops that leave their results there", "[parity][small]",
                   ON_EVERY_EXEC) {
  const auto exec = TestType::exec();
  if (!exec) return;
  for (const Index num : sizes) {
    const std::vector<Index> values = random_values(num, 5);
    const Buffer<Index> uploaded = upload(*exec, values);
    std::vector<LocalIndex> negative;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] < 0) negative.push_back(static_cast<LocalIndex>(i));
    }
    std::vector<Index> scanned(values.size());
    std::exclusive_scan(values.begin(), values.end(), scanned.begin(), Index{0});
    INFO(num);
    CHECK(to_host(*exec, on(*exec, [&](const auto& e) {
            return find_negative(e, uploaded.span());
          })) == negative);

    Buffer<Index> scan_room = upload(*exec, values);
    Buffer<LocalIndex> indices(*exec, num, "test");
    Buffer<Index> num_negative(*exec, 1, "test");
    Buffer<Digest> digests(*exec, 1, "test");
    const Queued queued{scan_room.span(), indices.data(), num_negative.data(), digests.data()};
    on(*exec, [&](const auto& e) { queue_loops(e, uploaded.span(), queued); });
    CHECK(to_host(*exec, scan_room) == scanned);
    CHECK(to_host(*exec, num_negative).front() == static_cast<Index>(negative.size()));
    indices.shrink(static_cast<Index>(negative.size()));
    CHECK(to_host(*exec, indices) == negative);
    CHECK(to_host(*exec, digests).front() ==
          on(*exec, [&](const auto& e) { return digest(e, uploaded.span()); }));
  }
}

TEMPLATE_TEST_CASE("sort_pairs equals std::stable_sort for few pairs", "[parity][small]",
                   ON_EVERY_EXEC) {
  const auto exec = TestType::exec();
  if (!exec) return;
  for (const Index num : {0, 1, 2, 47, 48, 49, 300}) {
    for (const int bits : {0, 1, 7, 8, 9, 11, 12, 31, 32, 33, 63, 64})
      check_sorts(*exec, num, bits);
  }
}

TEMPLATE_TEST_CASE("sort_pairs equals std::stable_sort for many pairs", "[parity]", ON_EVERY_EXEC) {
  const auto exec = TestType::exec();
  if (!exec) return;
  for (const Index num : {16383, 16384, 16385, ZHALO_CHECKED ? 20000 : 100000}) {
    for (const int bits : {0, 1, 12, 63, 64}) check_sorts(*exec, num, bits);
  }
}

TEMPLATE_TEST_CASE("arrays that come to the host together", "[parity][small]", ON_EVERY_EXEC) {
  const auto exec = TestType::exec();
  if (!exec) return;
  const std::vector<Index> many = random_values(1001, 6);
  const std::vector<std::uint8_t> odd{3, 1, 4};
  const Buffer<Index> from_many = upload(*exec, many);
  const Buffer<std::uint8_t> from_odd = upload(*exec, odd);
  const Buffer<double> from_none(*exec, 0, "test");
  std::vector<Index> to_many;
  std::vector<std::uint8_t> to_odd;
  std::vector<double> to_none{1};
  Index one = 0;
  HostCopies copies(*exec);
  copies.wait();
  copies.add(from_odd, to_odd);
  copies.add(from_none, to_none);
  copies.add(from_many, to_many);
  copies.add(from_many.span().subspan(7, 1), &one);
  copies.wait();
  CHECK(to_many == many);
  CHECK(to_odd == odd);
  CHECK(to_none.empty());
  CHECK(one == many[7]);
}

TEMPLATE_TEST_CASE("memory that is not there is one clear error", "[parity][small]",
                   ON_EVERY_EXEC) {
  const auto exec = TestType::exec();
  if (!exec) return;
  CHECK_THROWS_AS(Buffer<double>(*exec, Index{1} << 44, "everything"), OutOfMemory);
  CHECK_THROWS_WITH(Buffer<double>(*exec, Index{1} << 44, "everything"),
                    Catch::Contains("are needed for everything"));
  // And what is asked for next is granted.
  const std::vector<Index> values = random_values(1000, 4);
  CHECK(to_host(*exec, upload(*exec, values)) == values);
}

}  // namespace zhalo::testing
