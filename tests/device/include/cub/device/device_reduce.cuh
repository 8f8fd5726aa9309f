/// A stand-in for CUB's reductions.
#pragma once

#include <optional>

#include "emulated_launch.hpp"

namespace cub {

struct DeviceReduce {
  /// Parts are combined in an order that the settings choose, as blocks of a device would be.
  template <class In, class Out, class Num, class Reduce, class Transform, class T>
  static cudaError_t TransformReduce(void* room, std::size_t& bytes, In in, Out out, Num num,
                                     Reduce reduce, Transform transform, T init,
                                     cudaStream_t stream) {
    const auto needed = static_cast<std::size_t>(num) / 128 + 768;
    if (zhalo::emulated::Workspace{room, bytes}.is_question(needed))
      return zhalo::emulated::load_algorithm();
    const auto run = [=] {
      constexpr Num num_parts = 7;
      T result = init;
      for (const std::size_t part : zhalo::emulated::order_of_parts(num_parts)) {
        std::optional<T> sum;
        for (auto i = static_cast<Num>(part); i < num; i += num_parts) {
          const T value = transform(in[i]);
          sum = sum ? reduce(*sum, value) : value;
        }
        if (sum) result = reduce(result, *sum);
      }
      *out = result;
    };
    using zhalo::emulated::ArgumentBytes;
    return zhalo::emulated::queue_algorithm(
        {"cub::DeviceReduce::TransformReduce", stream, run},
        {ArgumentBytes::of(transform), ArgumentBytes::of(out), ArgumentBytes::of(room)});
  }
};

}  // namespace cub
