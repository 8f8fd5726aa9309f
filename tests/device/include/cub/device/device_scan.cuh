/// A stand-in for CUB's prefix sums.
#pragma once

#include "emulated_launch.hpp"

namespace cub {

struct DeviceScan {
  /// In place, too.
  template <class T, class Num>
  static cudaError_t ExclusiveSum(void* room, std::size_t& bytes, const T* in, T* out, Num num,
                                  cudaStream_t stream) {
    const auto needed = static_cast<std::size_t>(num) / 128 + 512;
    if (zhalo::emulated::Workspace{room, bytes}.is_question(needed))
      return zhalo::emulated::load_algorithm();
    const auto run = [=] {
      T sum{};
      for (Num i = 0; i < num; ++i) {
        const T value = in[i];
        out[i] = sum;
        sum = static_cast<T>(sum + value);
      }
    };
    using zhalo::emulated::ArgumentBytes;
    return zhalo::emulated::queue_algorithm(
        {"cub::DeviceScan::ExclusiveSum", stream, run},
        {ArgumentBytes::of(in), ArgumentBytes::of(out), ArgumentBytes::of(room)});
  }
};

}  // namespace cub
