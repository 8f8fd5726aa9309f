/// A stand-in for CUB's radix sort: stable, by the chosen bits, eight at a time, to and fro.
#pragma once

#include <array>
#include <utility>

#include "emulated_launch.hpp"

namespace cub {

template <class T>
struct DoubleBuffer {
  T* d_buffers[2];
  int selector = 0;

  DoubleBuffer(T* current, T* alternate) : d_buffers{current, alternate} {}
  T* Current() { return d_buffers[selector]; }
  T* Alternate() { return d_buffers[1 - selector]; }
};

struct DeviceRadixSort {
  template <class Key, class Value, class Num>
  static cudaError_t SortPairs(void* room, std::size_t& bytes, DoubleBuffer<Key>& keys,
                               DoubleBuffer<Value>& values, Num num, int begin_bit, int end_bit,
                               cudaStream_t stream) {
    constexpr int digit_bits = 8;
    const auto needed = static_cast<std::size_t>(num) + 256;
    if (zhalo::emulated::Workspace{room, bytes}.is_question(needed))
      return zhalo::emulated::load_algorithm();
    const Pairs<Key, Value> from{keys.Current(), values.Current()};
    const Pairs<Key, Value> spare{keys.Alternate(), values.Alternate()};
    const int num_passes = (end_bit - begin_bit + digit_bits - 1) / digit_bits;
    const auto run = [=] {
      Pairs<Key, Value> a = from;
      Pairs<Key, Value> b = spare;
      for (int bit = begin_bit; bit < end_bit; bit += digit_bits) {
        pass(a, b, num, {bit, std::min(digit_bits, end_bit - bit)});
        std::swap(a, b);
      }
    };
    using zhalo::emulated::ArgumentBytes;
    const cudaError_t error = zhalo::emulated::queue_algorithm(
        {"cub::DeviceRadixSort::SortPairs", stream, run},
        {ArgumentBytes::of(from), ArgumentBytes::of(spare), ArgumentBytes::of(room)});
    if (error == cudaSuccess) keys.selector = values.selector = (keys.selector + num_passes) % 2;
    return error;
  }

 private:
  template <class Key, class Value>
  struct Pairs {
    Key* keys;
    Value* values;
  };
  struct Digit {
    int shift;
    int bits;
  };

  template <class Key, class Value, class Num>
  static void pass(const Pairs<Key, Value>& from, const Pairs<Key, Value>& to, Num num,
                   const Digit& digit) {
    const auto digit_of = [&](Key key) {
      return static_cast<std::size_t>(key >> digit.shift & ((Key{1} << digit.bits) - 1));
    };
    std::array<Num, 257> offset{};
    for (Num i = 0; i < num; ++i) ++offset[digit_of(from.keys[i]) + 1];
    for (std::size_t d = 0; d < 256; ++d) offset[d + 1] += offset[d];
    for (Num i = 0; i < num; ++i) {
      const Num at = offset[digit_of(from.keys[i])]++;
      to.keys[at] = from.keys[i];
      to.values[at] = from.values[i];
    }
  }
};

}  // namespace cub
