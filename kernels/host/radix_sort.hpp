/// Radix sort on the host that stays in the cache: the highest digit is partitioned first; each
/// part is then sorted on its own, from the lowest digit up where it fits the cache, else by its
/// next highest digit.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "zhalo/core/types.hpp"

namespace zhalo::kernels {

inline constexpr int max_digit_bits = 11;
/// Digits of parts that are larger than the cache, or so small that counts of more values would
/// cost more than the elements.
inline constexpr int short_digit_bits = 8;
/// Elements that are sorted inside the cache: twice 8 or 12 bytes each.
inline constexpr Index cache_elements = 1 << 14;
inline constexpr Index few_elements = 48;

template <class Number>
using CountsOf = std::array<Number, std::size_t{1} << max_digit_bits>;
using DigitCounts = CountsOf<Index>;

/// Arrays of keys and of a value each.
struct KeyValues {
  struct Element {
    std::uint64_t key;
    LocalIndex value;
  };
  std::uint64_t* keys;
  LocalIndex* values;

  KeyValues at(Index i) const { return {keys + i, values + i}; }
  std::uint64_t key(Index i) const { return keys[i]; }
  Element get(Index i) const { return {keys[i], values[i]}; }
  void set(Index i, Element element) const {
    keys[i] = element.key;
    values[i] = element.value;
  }
};

/// An array of words, each with a key in its upper half and a value in its lower.
struct PackedPairs {
  struct Element {
    std::uint64_t key;
    std::uint64_t word;
  };
  std::uint64_t* keys;

  PackedPairs at(Index i) const { return {keys + i}; }
  std::uint64_t key(Index i) const { return keys[i] >> 32; }
  Element get(Index i) const { return {key(i), keys[i]}; }
  void set(Index i, Element element) const { keys[i] = element.word; }
};

/// An array of keys alone.
struct KeyArray {
  struct Element {
    std::uint64_t key;
  };
  std::uint64_t* keys;

  KeyArray at(Index i) const { return {keys + i}; }
  std::uint64_t key(Index i) const { return keys[i]; }
  Element get(Index i) const { return {keys[i]}; }
  void set(Index i, Element element) const { keys[i] = element.key; }
};

/// Bits [low, low + num) of a key.
struct KeyBits {
  int low;
  int num;

  std::size_t of(std::uint64_t key) const { return (key >> low) & ((std::uint64_t{1} << num) - 1); }
  std::size_t num_values() const { return std::size_t{1} << num; }
  KeyBits highest(int bits) const { return {low + num - bits, bits}; }
  KeyBits without_highest(int bits) const { return {low, num - bits}; }
};

template <class Elements, class Number>
void count_digits(const Elements& from, Index num, KeyBits digit, CountsOf<Number>& counts) {
  std::fill_n(counts.begin(), digit.num_values(), Number{0});
  for (Index i = 0; i < num; ++i) ++counts[digit.of(from.key(i))];
}

/// `at` holds where the next element of each digit goes.
template <class Elements, class Number>
void scatter_digits(const Elements& from, const Elements& to, Index num, KeyBits digit,
                    CountsOf<Number>& at) {
  for (Index i = 0; i < num; ++i)
    to.set(static_cast<Index>(at[digit.of(from.key(i))]++), from.get(i));
}

/// Moves elements into the order of one digit, stably. `ends` becomes where each value ends.
template <class Elements, class Number>
void partition_by(const Elements& from, const Elements& to, Index num, KeyBits digit,
                  CountsOf<Number>& ends) {
  count_digits(from, num, digit, ends);
  Number sum = 0;
  for (std::size_t d = 0; d < digit.num_values(); ++d) sum += std::exchange(ends[d], sum);
  scatter_digits(from, to, num, digit, ends);
}

/// The counts of several blocks become where the next element of each digit goes, those of the
/// first block first. Returns where each value begins, and where all end.
inline std::vector<Index> interleave(std::vector<DigitCounts>& blocks, std::size_t num_values) {
  std::vector<Index> starts(num_values + 1);
  Index sum = 0;
  for (std::size_t d = 0; d < num_values; ++d) {
    starts[d] = sum;
    for (DigitCounts& counts : blocks) sum += std::exchange(counts[d], sum);
  }
  starts[num_values] = sum;
  return starts;
}

template <class Elements>
void copy_elements(const Elements& from, const Elements& to, Index num) {
  if (from.keys == to.keys) return;
  for (Index i = 0; i < num; ++i) to.set(i, from.get(i));
}

template <class Elements>
void insertion_sort(const Elements& elements, Index num) {
  for (Index i = 1; i < num; ++i) {
    const auto element = elements.get(i);
    Index j = i;
    for (; j > 0 && elements.key(j - 1) > element.key; --j) elements.set(j, elements.get(j - 1));
    elements.set(j, element);
  }
}

/// From the lowest digit up; the result is in `result`, which is `from` or `spare`.
template <class Elements>
void sort_in_cache(Elements from, Elements spare, Index num, KeyBits bits, const Elements& result) {
  CountsOf<std::uint32_t> ends;
  const int max_bits = num < Index{1} << short_digit_bits ? short_digit_bits : max_digit_bits;
  const int num_digits = (bits.num + max_bits - 1) / max_bits;
  const int digit_bits = (bits.num + num_digits - 1) / num_digits;
  for (int done = 0; done < bits.num; done += digit_bits) {
    const KeyBits digit{bits.low + done, std::min(digit_bits, bits.num - done)};
    partition_by(from, spare, num, digit, ends);
    std::swap(from, spare);
  }
  copy_elements(from, result, num);
}

/// Sorts stably by `bits`. Higher bits must be equal in all keys, lower ones ascend where the
/// others are equal. The result is in `result`, which is `from` or `spare`.
template <class Elements>
void sort_part(const Elements& from, const Elements& spare, Index num, KeyBits bits,
               const Elements& result) {
  if (num <= few_elements || bits.num == 0) {
    if (bits.num > 0) insertion_sort(from, num);
    return copy_elements(from, result, num);
  }
  if (num <= cache_elements) return sort_in_cache(from, spare, num, bits, result);
  const int digit_bits = std::min(short_digit_bits, bits.num);
  const KeyBits digit = bits.highest(digit_bits);
  auto ends = std::make_unique<DigitCounts>();
  partition_by(from, spare, num, digit, *ends);
  Index first = 0;
  for (std::size_t d = 0; d < digit.num_values(); ++d) {
    const Index end = (*ends)[d];
    sort_part(spare.at(first), from.at(first), end - first, bits.without_highest(digit_bits),
              result.at(first));
    first = end;
  }
}

}  // namespace zhalo::kernels
