/// Compiler checks and the few macros that every other header may use.
#pragma once

#if __cplusplus < 202002L
#error "zhalo needs C++20: with nvcc pass -std=c++20 (CMake 3.25 drops CUDA_STANDARD 20 silently)"
#endif

/// Functions that run on the host and, when nvcc compiles them, on the device.
#if defined(__CUDACC__)
#define ZHALO_HD __host__ __device__
#else
#define ZHALO_HD
#endif

/// Debug contracts and bounds checks: on unless NDEBUG is defined.
#if defined(NDEBUG)
#define ZHALO_CHECKED 0
#else
#define ZHALO_CHECKED 1
#endif

/// True where the text is being compiled for a device.
#if defined(__CUDA_ARCH__)
#define ZHALO_ON_DEVICE 1
#else
#define ZHALO_ON_DEVICE 0
#endif

/// A contract: checked in Debug builds, nothing otherwise. Include zhalo/core/error.hpp to use
/// it. Emulated devices (tests/device) can throw, as the host does.
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
