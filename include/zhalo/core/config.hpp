/// Compiler checks and the few macros that every other header may use.
#pragma once

#if __cplusplus < 202002L
#error "zhalo needs C++20: with nvcc pass -std=c++20 (CMake 3.25 drops CUDA_STANDARD 20 silently)"
#endif

/// Marks functions that run on the host and, if nvcc compiles them, also on the device.
#if defined(__CUDACC__)
#define ZHALO_HD __host__ __device__
#else
#define ZHALO_HD
#endif

/// Debug contracts and bounds checks are on unless NDEBUG is defined.
#if defined(NDEBUG)
#define ZHALO_CHECKED 0
#else
#define ZHALO_CHECKED 1
#endif

/// 1 while code is compiled for a device, else 0.
#if defined(__CUDA_ARCH__)
#define ZHALO_ON_DEVICE 1
#else
#define ZHALO_ON_DEVICE 0
#endif

/// A contract: checked in Debug builds, ignored in others. A file that uses it must include
/// zhalo/core/error.hpp. A broken contract throws on the host and fails an assert on a device.
/// Emulated devices (tests/device) throw as the host does.
#if !ZHALO_CHECKED
#define ZHALO_EXPECT(condition) static_cast<void>(0)
#elif ZHALO_ON_DEVICE && !defined(ZHALO_EMULATED_DEVICE)
#include <cassert>
#define ZHALO_EXPECT(condition) assert(condition)
#else
#define ZHALO_EXPECT(condition)                        \
  (static_cast<bool>(condition) ? static_cast<void>(0) \
                                : ::zhalo::contract_failed(#condition, __FILE__, __LINE__))
#endif
