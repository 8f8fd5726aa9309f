/// What the texts of kernels/common find in every backend, and how they are compiled for one.
///
/// Loops, of kernels/host/parallel.hpp or kernels/cuda/launch.cuh and reduce.cuh, which a backend
/// includes before the texts:
///
///   for_each(exec, n, f)            f(i) for i in [0, n), in any order
///   transform_reduce(exec, n, init, map, combine)
///                                   map(0) to map(n - 1) and init, combined
///   exclusive_scan(exec, values)    each element becomes the sum of those before it; returns the
///                                   sum of all
///   select(exec, n, condition)      the i in [0, n) with condition(i), ascending
///   queue_reduce(exec, n, MapReduce{init, map, combine}, result),
///   queue_scan(exec, values),
///   queue_select(exec, n, condition, selected, num)
///                                   the same without a wait for the device: what the host would
///                                   get is written to memory of the Exec, or nowhere
///   chunk_of_loop(exec)             elements that one call of a functor goes through in order,
///                                   where its elements are chunks
///   for_each_with_lanes(exec, n, f, lanes)
///                                   f(lanes, i, scratch) for i in [0, n): see lanes/lanes.hpp
#pragma once

#include "zhalo/core/config.hpp"
#include "zhalo/core/types.hpp"

/// A text ends with its explicit instantiations, for the Exec that ZHALO_BACKEND names: what
/// includes the text for its functors only (a test) defines none.
#if defined(ZHALO_BACKEND)
#define ZHALO_INSTANTIATE(name, ...)                                \
  template decltype(name<ZHALO_BACKEND __VA_OPT__(, ) __VA_ARGS__>) \
      name<ZHALO_BACKEND __VA_OPT__(, ) __VA_ARGS__>
#else
#define ZHALO_INSTANTIATE(name, ...) static_assert(true)
#endif
#define ZHALO_INSTANTIATE_REALS(name) \
  ZHALO_INSTANTIATE(name, float);     \
  ZHALO_INSTANTIATE(name, double)
#define ZHALO_INSTANTIATE_PAIRS_OF_REALS(name) \
  ZHALO_INSTANTIATE(name, float, float);       \
  ZHALO_INSTANTIATE(name, float, double);      \
  ZHALO_INSTANTIATE(name, double, float);      \
  ZHALO_INSTANTIATE(name, double, double)

/// Before a loop of a fixed number of steps over arrays that are to be registers.
#if defined(__clang__) || (defined(__NVCC__) && ZHALO_ON_DEVICE)
#define ZHALO_UNROLL _Pragma("unroll")
#elif defined(__NVCC__)
#define ZHALO_UNROLL  // nvcc's look at the host's side knows neither
#else
#define ZHALO_UNROLL _Pragma("GCC unroll 32")
#endif

/// Before a loop of one or two turns for most lanes: nvcc would prepare for many.
#if defined(__NVCC__) && ZHALO_ON_DEVICE
#define ZHALO_KEEP_LOOP _Pragma("unroll 1")
#else
#define ZHALO_KEEP_LOOP
#endif

namespace zhalo::kernels {

/// What transform_reduce() does, as one parameter. `combine` must be associative and commutative,
/// and combine(init, x) must be x.
template <class T, class Map, class Combine>
struct MapReduce {
  T init;
  Map map;
  Combine combine;
};
template <class T, class Map, class Combine>
MapReduce(T, Map, Combine) -> MapReduce<T, Map, Combine>;

/// How far ahead the host's for_each calls a functor's `prefetch(i)`, where it has one: for loops
/// that read or write at random indices, where the next indices are known. A device hides the wait
/// with other threads and does not call it.
inline constexpr Index prefetch_distance = 32;

/// Into the second cache, which can wait for more lines at a time than the first (Zen 4).
ZHALO_HD inline void prefetch_line(const void* address) {
#if !ZHALO_ON_DEVICE
  __builtin_prefetch(address, 0, 2);
#else
  static_cast<void>(address);
#endif
}

/// Of something that may lie on two lines, both.
ZHALO_HD inline void prefetch_from_to(const void* first, const void* last) {
  prefetch_line(first);
  prefetch_line(last);
}

}  // namespace zhalo::kernels
