/// The smallest index of each set, found in parts by several threads, against one pass that looks
/// up each particle's root.
#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>

#include "kernels/fof.hpp"
#include "kernels/on.hpp"
#include "tests/support/random.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/core/exec.hpp"

namespace zhalo::testing {
namespace {

enum class Links { none, to_the_first, to_the_one_before, near, far, of_all_kinds };
constexpr int num_kinds = 6;

LocalIndex link_of(Links links, Index i, Random& random) {
  if (i == 0 || links == Links::none) return static_cast<LocalIndex>(i);
  switch (links) {
    case Links::to_the_first: return 0;
    case Links::to_the_one_before: return static_cast<LocalIndex>(i - 1);
    case Links::near: return static_cast<LocalIndex>(i - std::min<Index>(i, random.below(40)));
    case Links::far: return static_cast<LocalIndex>(random.one_in(3) ? i : random.below(i + 1));
    default: return link_of(static_cast<Links>(random.below(num_kinds - 1)), i, random);
  }
}

/// Sets whose links point down, as linking leaves them.
struct Case {
  std::vector<LocalIndex> parent, root;

  Case(Links links, Index num, Random& random) {
    for (Index i = 0; i < num; ++i) {
      const LocalIndex up = link_of(links, i, random);
      parent.push_back(up);
      root.push_back(up == i ? up : root[up]);
    }
  }
};

template <class T>
std::vector<T> shuffled(std::size_t num, T first, Random& random) {
  std::vector<T> index(num);
  std::iota(index.begin(), index.end(), first);
  std::shuffle(index.begin(), index.end(), std::mt19937_64(random.bits()));
  return index;
}

template <class T>
void check(const Exec& exec, const Case& given, const std::vector<T>& index) {
  std::vector<T> expected = index;
  for (std::size_t i = 0; i < index.size(); ++i)
    expected[given.root[i]] = std::min(expected[given.root[i]], index[i]);

  std::vector<LocalIndex> parent = given.parent;
  std::vector<T> smallest(index.size());
  std::vector<Index> label(index.size());
  const kernels::DisjointSets sets{Span<LocalIndex>(parent)};
  kernels::on(exec, [&](const auto& e) {
    if constexpr (std::is_same_v<std::decay_t<decltype(e)>, Host>) {
      kernels::find_smallest(e, sets, Span<const T>(index), Span<T>(smallest));
      kernels::write_labels(e, sets, {}, Span<const T>(smallest), Span<Index>(label));
    }
  });
  bool are_links_down = true, are_smallest = true, are_labels = true;
  for (std::size_t i = 0; i < index.size(); ++i) {
    const LocalIndex root = given.root[i];
    are_links_down = are_links_down && parent[i] <= i && given.root[parent[i]] == root;
    if (root == i) are_smallest = are_smallest && smallest[i] == expected[i];
    are_labels = are_labels && label[i] == static_cast<Index>(expected[root]);
  }
  CHECK(are_links_down);
  CHECK(are_smallest);
  CHECK(are_labels);
}

}  // namespace

TEST_CASE("the smallest index of each set, for any number of threads") {
  const int threads = GENERATE(1, 2, 3, 7);
  // With the last number, each of seven threads has a part of its own.
  const Index num = GENERATE(0, 1, 1000, 40'000, 120'000);
  const Exec exec = host_exec(threads);
  for (int kind = 0; kind < num_kinds; ++kind) {
    CAPTURE(threads, num, kind);
    Random random(static_cast<std::uint64_t>(kind + num));
    const Case given(static_cast<Links>(kind), num, random);
    check(exec, given, shuffled<LocalIndex>(given.root.size(), 0, random));
    check(exec, given, shuffled<Index>(given.root.size(), Index{1} << 40, random));
  }
}

}  // namespace zhalo::testing
