/// What the functions of kernels/cuda do where there is no CUDA toolkit.
#pragma once

#include "zhalo/core/error.hpp"

namespace zhalo::kernels {

inline constexpr const char* no_cuda =
    "zhalo was built without CUDA; build it where nvcc is found, or run on the host";

[[noreturn]] inline void refuse() { throw DeviceError(no_cuda); }

}  // namespace zhalo::kernels
