// Sorting on the host: the highest digit is partitioned over all threads, each part is then sorted
// by one of them.
#define ZHALO_BACKEND Host

#include <algorithm>
#include <vector>

#include "kernels/host/parallel.hpp"
#include "kernels/host/radix_sort.hpp"
// The loops come first: the texts of kernels/common are written in terms of them.
#include "kernels/common/sort/sorted.hpp"

namespace zhalo::kernels {
namespace {

/// First pass over all threads: each thread takes one block; the blocks' places are interleaved so
/// that the sort is stable.
template <class Elements>
std::vector<Index> partition_parallel(const Host& exec, const Elements& from, const Elements& to,
                                      Index num, KeyBits digit) {
  const Index num_blocks = std::clamp<Index>(num / host_block, 1, threads_of(exec));
  const auto first_of = [&](Index block) { return num * block / num_blocks; };
  std::vector<DigitCounts> at(static_cast<std::size_t>(num_blocks));
  run_tasks(exec, num_blocks, [&](Index b) {
    count_digits(from.at(first_of(b)), first_of(b + 1) - first_of(b), digit,
                 at[static_cast<std::size_t>(b)]);
  });
  std::vector<Index> starts = interleave(at, digit.num_values());
  run_tasks(exec, num_blocks, [&](Index b) {
    scatter_digits(from.at(first_of(b)), to, first_of(b + 1) - first_of(b), digit,
                   at[static_cast<std::size_t>(b)]);
  });
  return starts;
}

/// Sorts `elements`, with room for as many in `spare`.
template <class Elements>
void sort_elements(const Host& exec, const Elements& elements, const Elements& spare, Index num,
                   KeyBits all) {
  if (num <= cache_elements || all.num == 0) return sort_part(elements, spare, num, all, elements);
  const int digit_bits = std::min(max_digit_bits, all.num);
  const KeyBits digit = all.highest(digit_bits);
  const std::vector<Index> starts = partition_parallel(exec, elements, spare, num, digit);
  run_tasks(exec, static_cast<Index>(digit.num_values()), [&](Index d) {
    const Index first = starts[static_cast<std::size_t>(d)];
    const Index count = starts[static_cast<std::size_t>(d) + 1] - first;
    sort_part(spare.at(first), elements.at(first), count, all.without_highest(digit_bits),
              elements.at(first));
  });
}

/// A key and its value in one word take less time to move.
void sort_packed(const Host& exec, const SortPairs& arrays, int bits) {
  const Index num = arrays.keys.size();
  const std::uint64_t higher_bits = arrays.keys[0] >> bits << bits;
  for_each_block(exec, num, host_block, [&](Index first, Index last) {
    for (Index i = first; i < last; ++i)
      arrays.keys[i] = (arrays.keys[i] ^ higher_bits) << 32 | arrays.values[i];
  });
  sort_elements(exec, PackedPairs{arrays.keys.data()}, PackedPairs{arrays.spare_keys.data()}, num,
                {0, bits});
  for_each_block(exec, num, host_block, [&](Index first, Index last) {
    for (Index i = first; i < last; ++i) {
      arrays.values[i] = static_cast<LocalIndex>(arrays.keys[i]);
      arrays.keys[i] = arrays.keys[i] >> 32 | higher_bits;
    }
  });
}

}  // namespace

void sort_pairs(const Host& exec, const SortPairs& arrays, int bits) {
  const Index num = arrays.keys.size();
  if (num > 0 && bits <= 32) return sort_packed(exec, arrays, bits);
  const KeyValues pairs{arrays.keys.data(), arrays.values.data()};
  const KeyValues spare{arrays.spare_keys.data(), arrays.spare_values.data()};
  sort_elements(exec, pairs, spare, num, {0, bits});
}

}  // namespace zhalo::kernels
