/// A stand-in for CUB's selections.
#pragma once

#include "emulated_launch.hpp"

namespace cub {

struct DeviceSelect {
  template <class In, class Value, class Count, class Num, class Condition>
  static cudaError_t If(void* room, std::size_t& bytes, In in, Value* selected, Count* num_selected,
                        Num num, Condition condition, cudaStream_t stream) {
    const auto needed = static_cast<std::size_t>(num) / 128 + 768;
    if (zhalo::emulated::Workspace{room, bytes}.is_question(needed)) return cudaSuccess;
    const auto run = [=] {
      Count found = 0;
      for (Num i = 0; i < num; ++i) {
        const auto value = in[i];
        if (condition(value)) selected[found++] = value;
      }
      *num_selected = found;
    };
    using zhalo::emulated::ArgumentBytes;
    return zhalo::emulated::queue_algorithm(
        {"cub::DeviceSelect::If", stream, run},
        {ArgumentBytes::of(condition), ArgumentBytes::of(selected), ArgumentBytes::of(num_selected),
         ArgumentBytes::of(room)});
  }
};

}  // namespace cub
