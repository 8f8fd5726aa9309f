/// A stand-in for CUB's selections.
#pragma once

#include "emulated_launch.hpp"

namespace cub {

struct DeviceSelect {
  template <class In, class Flag, class Value, class Count, class Num>
  static cudaError_t Flagged(void* room, std::size_t& bytes, In in, Flag* flags, Value* selected,
                             Count* num_selected, Num num, cudaStream_t stream) {
    const auto needed = static_cast<std::size_t>(num) / 128 + 768;
    if (zhalo::emulated::Workspace{room, bytes}.is_question(needed))
      return zhalo::emulated::load_algorithm();
    const auto run = [=] {
      Count found = 0;
      for (Num i = 0; i < num; ++i) {
        if (flags[i]) selected[found++] = in[i];
      }
      *num_selected = found;
    };
    using zhalo::emulated::ArgumentBytes;
    return zhalo::emulated::queue_algorithm(
        {"cub::DeviceSelect::Flagged", stream, run},
        {ArgumentBytes::of(flags), ArgumentBytes::of(selected), ArgumentBytes::of(num_selected),
         ArgumentBytes::of(room)});
  }
};

}  // namespace cub
