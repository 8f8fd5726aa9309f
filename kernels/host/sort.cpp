// Sorting on the host.
//
// Radix sort of (key, value) pairs that stays in the cache: the highest digit is partitioned first,
// over all threads; each part is then sorted on its own, from the lowest digit up where it fits the
// cache, else by its next highest digit.
#define ZHALO_BACKEND Host

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "kernels/host/parallel.hpp"
// The loops come first: the texts of kernels/common are written in terms of them.
#include "kernels/common/sort/runs.hpp"
#include "kernels/common/sort/search.hpp"

namespace zhalo::kernels {
namespace {

constexpr int max_digit_bits = 11;
constexpr int cache_digit_bits = 8;
/// Pairs that are sorted inside the cache: twice 12 bytes each.
constexpr Index cache_pairs = 1 << 14;
constexpr Index few_pairs = 48;

using Counts = std::array<Index, std::size_t{1} << max_digit_bits>;

struct Pairs {
  std::uint64_t* keys;
  LocalIndex* values;

  Pairs at(Index i) const { return {keys + i, values + i}; }
};

struct Digit {
  int shift;
  int bits;

  std::size_t of(std::uint64_t key) const {
    return (key >> shift) & ((std::uint64_t{1} << bits) - 1);
  }
  std::size_t size() const { return std::size_t{1} << bits; }
};

void count_digits(const Pairs& from, Index num, Digit digit, Counts& counts) {
  std::fill_n(counts.begin(), digit.size(), Index{0});
  for (Index i = 0; i < num; ++i) ++counts[digit.of(from.keys[i])];
}

/// `at` holds where the next pair of each digit goes.
void scatter(const Pairs& from, const Pairs& to, Index num, Digit digit, Counts& at) {
  for (Index i = 0; i < num; ++i) {
    const Index place = at[digit.of(from.keys[i])]++;
    to.keys[place] = from.keys[i];
    to.values[place] = from.values[i];
  }
}

void sum_up(Counts& counts, std::size_t size) {
  Index sum = 0;
  for (std::size_t d = 0; d < size; ++d) {
    const Index count = counts[d];
    counts[d] = sum;
    sum += count;
  }
}

void partition_by(const Pairs& from, const Pairs& to, Index num, Digit digit, Counts& starts) {
  count_digits(from, num, digit, starts);
  sum_up(starts, digit.size());
  Counts at = starts;
  scatter(from, to, num, digit, at);
}

void copy(const Pairs& from, const Pairs& to, Index num) {
  std::copy_n(from.keys, num, to.keys);
  std::copy_n(from.values, num, to.values);
}

void insertion_sort(const Pairs& pairs, Index num) {
  for (Index i = 1; i < num; ++i) {
    const std::uint64_t key = pairs.keys[i];
    const LocalIndex value = pairs.values[i];
    Index j = i;
    for (; j > 0 && pairs.keys[j - 1] > key; --j) {
      pairs.keys[j] = pairs.keys[j - 1];
      pairs.values[j] = pairs.values[j - 1];
    }
    pairs.keys[j] = key;
    pairs.values[j] = value;
  }
}

/// Sorts `pairs` by the lowest `bits` bits, from the lowest digit up; the result is in `result`,
/// which is `pairs` or `spare`.
void sort_in_cache(Pairs pairs, Pairs spare, Index num, int bits, const Pairs& result) {
  Counts starts;
  for (int shift = 0; shift < bits; shift += cache_digit_bits) {
    partition_by(pairs, spare, num, {shift, std::min(cache_digit_bits, bits - shift)}, starts);
    std::swap(pairs, spare);
  }
  if (pairs.keys != result.keys) copy(pairs, result, num);
}

void sort_part(const Pairs& pairs, const Pairs& spare, Index num, int bits, const Pairs& result) {
  if (num <= few_pairs || bits == 0) {
    if (bits > 0) insertion_sort(pairs, num);
    if (pairs.keys != result.keys) copy(pairs, result, num);
    return;
  }
  if (num <= cache_pairs) return sort_in_cache(pairs, spare, num, bits, result);
  const int digit_bits = std::min(cache_digit_bits, bits);
  const Digit digit{bits - digit_bits, digit_bits};
  auto starts = std::make_unique<Counts>();
  partition_by(pairs, spare, num, digit, *starts);
  for (std::size_t d = 0; d < digit.size(); ++d) {
    const Index first = (*starts)[d];
    const Index count = (d + 1 < digit.size() ? (*starts)[d + 1] : num) - first;
    sort_part(spare.at(first), pairs.at(first), count, digit.shift, result.at(first));
  }
}

/// First pass over all threads: each thread takes one block; the blocks' places are interleaved so
/// that the sort is stable.
std::vector<Index> partition_parallel(const Host& exec, const Pairs& from, const Pairs& to,
                                      Index num, Digit digit) {
  const Index num_blocks = std::clamp<Index>(num / host_block, 1, threads_of(exec));
  const auto first_of = [&](Index block) { return num * block / num_blocks; };
  std::vector<Counts> at(static_cast<std::size_t>(num_blocks));
  run_tasks(exec, num_blocks, [&](Index b) {
    count_digits(from.at(first_of(b)), first_of(b + 1) - first_of(b), digit,
                 at[static_cast<std::size_t>(b)]);
  });
  std::vector<Index> starts(digit.size() + 1);
  Index sum = 0;
  for (std::size_t d = 0; d < digit.size(); ++d) {
    starts[d] = sum;
    for (Counts& counts : at) {
      const Index count = counts[d];
      counts[d] = sum;
      sum += count;
    }
  }
  starts[digit.size()] = sum;
  run_tasks(exec, num_blocks, [&](Index b) {
    scatter(from.at(first_of(b)), to, first_of(b + 1) - first_of(b), digit,
            at[static_cast<std::size_t>(b)]);
  });
  return starts;
}

}  // namespace

void sort_pairs(const Host& exec, const SortPairs& arrays, int bits) {
  const Index num = arrays.keys.size();
  const Pairs pairs{arrays.keys.data(), arrays.values.data()};
  const Pairs spare{arrays.spare_keys.data(), arrays.spare_values.data()};
  if (num <= cache_pairs || bits == 0) return sort_part(pairs, spare, num, bits, pairs);
  const int digit_bits = std::min(max_digit_bits, bits);
  const Digit digit{bits - digit_bits, digit_bits};
  const std::vector<Index> starts = partition_parallel(exec, pairs, spare, num, digit);
  run_tasks(exec, static_cast<Index>(digit.size()), [&](Index d) {
    const Index first = starts[static_cast<std::size_t>(d)];
    const Index count = starts[static_cast<std::size_t>(d) + 1] - first;
    sort_part(spare.at(first), pairs.at(first), count, digit.shift, pairs.at(first));
  });
}

}  // namespace zhalo::kernels
