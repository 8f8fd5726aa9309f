/// Asking for memory before it is needed.
#pragma once

#include "zhalo/core/config.hpp"
#include "zhalo/core/types.hpp"

namespace zhalo::kernels {

/// How far ahead the host's for_each calls a functor's `prefetch(i)`, where it has one: for loops
/// that read or write at random places, where the next places are known. A device hides the wait
/// with other threads and does not call it.
inline constexpr Index prefetch_distance = 32;

ZHALO_HD inline void prefetch_line(const void* address) {
#if !ZHALO_ON_DEVICE
  __builtin_prefetch(address);
#else
  static_cast<void>(address);
#endif
}

}  // namespace zhalo::kernels
