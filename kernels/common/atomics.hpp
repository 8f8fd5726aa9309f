/// Relaxed atomic operations on plain memory, the same on host and device. None orders other
/// memory.
///
/// On a device, loads and stores are volatile: the PTX manual gives ld.volatile and st.volatile the
/// meaning of relaxed ones at system scope, which no stale line of a multiprocessor's own cache can
/// answer; together with atomicCAS and atomicMin (relaxed, device scope) they are free of data
/// races.
#pragma once

#include <type_traits>

#include "zhalo/core/config.hpp"
#include "zhalo/core/types.hpp"

#if !ZHALO_ON_DEVICE
#include <atomic>
#endif

namespace zhalo::kernels {

template <class T>
ZHALO_HD T atomic_load(const T& from) {
#if ZHALO_ON_DEVICE
  return *const_cast<const volatile T*>(&from);
#else
  return std::atomic_ref<T>(const_cast<T&>(from)).load(std::memory_order_relaxed);
#endif
}

template <class T>
ZHALO_HD void atomic_store(T& to, T value) {
#if ZHALO_ON_DEVICE
  *const_cast<volatile T*>(&to) = value;
#else
  std::atomic_ref<T>(to).store(value, std::memory_order_relaxed);
#endif
}

/// Replaces `expected` by `desired`; returns what was there.
ZHALO_HD inline LocalIndex atomic_compare_exchange(LocalIndex& at, LocalIndex expected,
                                                   LocalIndex desired) {
#if ZHALO_ON_DEVICE
  return atomicCAS(&at, expected, desired);
#else
  std::atomic_ref<LocalIndex>(at).compare_exchange_strong(expected, desired,
                                                          std::memory_order_relaxed);
  return expected;
#endif
}

template <class T>
ZHALO_HD void atomic_min(T& at, T value) {
#if ZHALO_ON_DEVICE
  // Most values change nothing, and atomics on one address queue up where loads do not.
  if (!(value < atomic_load(at))) return;
  if constexpr (sizeof(T) == sizeof(long long)) {
    static_assert(std::is_signed_v<T>);
    atomicMin(reinterpret_cast<long long*>(&at), static_cast<long long>(value));
  } else {
    atomicMin(&at, value);
  }
#else
  const std::atomic_ref<T> ref(at);
  T seen = ref.load(std::memory_order_relaxed);
  while (value < seen && !ref.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
#endif
}

template <class T>
ZHALO_HD void atomic_add(T& at, T value) {
#if ZHALO_ON_DEVICE
  if constexpr (sizeof(T) == sizeof(long long)) {
    static_assert(std::is_integral_v<T>);
    atomicAdd(reinterpret_cast<unsigned long long*>(&at), static_cast<unsigned long long>(value));
  } else {
    atomicAdd(&at, value);
  }
#else
  std::atomic_ref<T>(at).fetch_add(value, std::memory_order_relaxed);
#endif
}

}  // namespace zhalo::kernels
