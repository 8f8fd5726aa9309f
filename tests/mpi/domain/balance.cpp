/// One order over all ranks, in even parts: against sorting everything on every rank.
#include "src/domain/redistribution.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>
#include <string>

#include "tests/support/host_context.hpp"
#include "tests/support/random.hpp"

namespace {

using namespace zhalo;
using Keys = std::vector<std::uint64_t>;

/// Keys of every rank, made alike on all ranks.
struct Case {
  std::string name;
  int bits;
  std::vector<Keys> keys;
};

std::vector<Case> all_cases(int size) {
  testing::Random random(5);
  std::vector<Case> cases;
  const auto add = [&](const char* name, int bits, auto&& count, auto&& key) {
    Case made{name, bits, {}};
    for (int rank = 0; rank < size; ++rank) {
      Keys keys;
      for (Index i = 0; i < count(rank); ++i) keys.push_back(key(rank, i));
      std::sort(keys.begin(), keys.end());
      made.keys.push_back(keys);
    }
    cases.push_back(made);
  };
  const auto many = [](int rank) { return Index{200 + rank}; };
  const auto any = [&](int bits) {
    return [&random, bits](int, Index) { return random.bits() >> (64 - bits); };
  };
  add("uniform", 63, many, any(63));
  add("few bits", 3, many, any(3));
  add("one bit", 1, many, any(1));
  add("no bits", 0, many, [](int, Index) { return std::uint64_t{0}; });
  add("all equal, the largest key", 63, many,
      [](int, Index) { return (std::uint64_t{1} << 63) - 1; });
  add("clustered", 63, many,
      [&](int, Index) { return std::uint64_t{1} << random.below(63) | random.bits() % 8; });
  add("sorted over ranks", 20, many,
      [](int rank, Index i) { return static_cast<std::uint64_t>(rank * 1000 + i); });
  add("against the ranks", 20, many,
      [](int rank, Index i) { return static_cast<std::uint64_t>(1000000 - rank * 1000 - i); });
  add(
      "all on the last rank", 30, [&](int rank) { return Index{rank == size - 1 ? 500 : 0}; },
      any(30));
  add(
      "all on the first rank", 30, [&](int rank) { return Index{rank == 0 ? 501 : 0}; }, any(30));
  add(
      "fewer than ranks", 30, [&](int rank) { return Index{rank % 2}; }, any(30));
  add(
      "one", 30, [&](int rank) { return Index{rank == size / 2 ? 1 : 0}; }, any(30));
  add(
      "none", 30, [&](int) { return Index{0}; }, any(30));
  return cases;
}

/// (key, rank, index) of every element, in order.
struct Element {
  std::uint64_t key;
  int rank;
  Index index;
  auto operator<=>(const Element&) const = default;
};

std::vector<Element> in_order(const Case& which) {
  std::vector<Element> all;
  for (std::size_t r = 0; r < which.keys.size(); ++r) {
    for (std::size_t i = 0; i < which.keys[r].size(); ++i)
      all.push_back({which.keys[r][i], static_cast<int>(r), static_cast<Index>(i)});
  }
  std::sort(all.begin(), all.end());
  return all;
}

/// Elements as they are after the exchange and the stable sort of what came.
std::vector<Element> brought(const Context& context, const Case& which,
                             Span<const Index> weight_before) {
  const auto self = static_cast<std::size_t>(context.comm.rank());
  const Keys& keys = which.keys[self];
  std::vector<Element> send;
  for (std::size_t i = 0; i < keys.size(); ++i)
    send.push_back({keys[i], context.comm.rank(), static_cast<Index>(i)});
  const ExchangePlan plan = plan_even_parts(context, {keys, which.bits, weight_before});
  std::vector<Element> received(static_cast<std::size_t>(plan.num_received()));
  send.emplace_back();
  received.emplace_back();
  context.comm.exchange(context.exec, plan, {{column_view(send), received.data()}});
  received.pop_back();
  std::stable_sort(received.begin(), received.end(),
                   [](const Element& a, const Element& b) { return a.key < b.key; });
  return received;
}

}  // namespace

TEST_CASE("even parts: each rank gets its share of the order by key, rank and index") {
  const Context context = testing::host_context();
  for (const Case& which : all_cases(context.comm.size())) {
    INFO(which.name);
    const std::vector<Element> all = in_order(which);
    const Share share =
        share_of(static_cast<Index>(all.size()), context.comm.rank(), context.comm.size());
    const std::vector<Element> expected(all.begin() + share.first,
                                        all.begin() + share.first + share.count);
    CHECK(brought(context, which, {}) == expected);
  }
}

TEST_CASE("even parts: by weight") {
  const Context context = testing::host_context();
  const int size = context.comm.size();
  for (const Case& which : all_cases(size)) {
    INFO(which.name);
    const auto weight_of = [](const Element& e) {
      return Index{1} + static_cast<Index>(e.key % 7) * 10 + e.index % 3;
    };
    const auto self = static_cast<std::size_t>(context.comm.rank());
    std::vector<Index> before{0};
    for (std::size_t i = 0; i < which.keys[self].size(); ++i)
      before.push_back(before.back() + weight_of({which.keys[self][i], context.comm.rank(),
                                                  static_cast<Index>(i)}));
    const std::vector<Element> all = in_order(which);
    Index total = 0;
    for (const Element& e : all) total += weight_of(e);
    // An element belongs to the last rank that begins at or before it.
    std::vector<Element> expected;
    Index sum = 0;
    for (const Element& e : all) {
      int owner = 0;
      for (int r = 1; r < size; ++r) owner = sum >= share_of(total, r, size).first ? r : owner;
      if (owner == context.comm.rank()) expected.push_back(e);
      sum += weight_of(e);
    }
    CHECK(brought(context, which, before) == expected);
  }
}

TEST_CASE("even parts: weights that are too large to be added up are an error") {
  const Context context = testing::host_context();
  const Keys keys{1, 2};
  const Index limit = Index{1} << 62;
  const auto plan = [&](Index weight) {
    const std::vector<Index> before{0, weight / 2, weight};
    plan_even_parts(context, {keys, 2, before});
  };
  CHECK_NOTHROW(plan((limit - 1) / context.comm.size()));
  for (const Index weight : {limit / context.comm.size() + 1, limit, 2 * (limit - 1)})
    CHECK_THROWS_WITH(plan(weight), Catch::Contains("must be less than 2^62"));
}

TEST_CASE("indices sorted by keys keep their order where keys are equal") {
  const Exec exec = host_exec(2);
  testing::Random random(3);
  Keys keys(5000);
  for (auto& key : keys) key = random.bits() % 97;
  std::vector<LocalIndex> expected(keys.size());
  std::iota(expected.begin(), expected.end(), 0);
  std::stable_sort(expected.begin(), expected.end(),
                   [&](LocalIndex a, LocalIndex b) { return keys[a] < keys[b]; });
  Keys sorted = keys;
  CHECK(to_host(exec, sort_indices(exec, sorted, 7)) == expected);
  CHECK(std::is_sorted(sorted.begin(), sorted.end()));
}
