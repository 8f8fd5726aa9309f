/// Runs a piece of code on the backend that an Exec has chosen, and waits for it.
#pragma once

#include "kernels/memory.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/core/exec.hpp"

namespace zhalo::kernels {

inline constexpr const char* no_cuda =
    "zhalo was built without CUDA; build it where nvcc is found, or run on the host";

/// Calls f with the alternative that `exec` holds and returns what f returns. A build without CUDA
/// compiles f for Host only, and throws DeviceError for a device.
template <class F>
decltype(auto) on(const Exec& exec, F&& f) {
#if defined(ZHALO_WITH_CUDA)
  if (const auto* cuda = std::get_if<Cuda>(&exec)) return f(*cuda);
#else
  if (std::holds_alternative<Cuda>(exec)) throw DeviceError(no_cuda);
#endif
  return f(*std::get_if<Host>(&exec));
}

}  // namespace zhalo::kernels

namespace zhalo {

/// Waits for what is queued. Unlike wait() it throws an error of that work: where the other ranks
/// can still be told.
inline void synchronise(const Exec& exec) {
  if (const auto* cuda = std::get_if<Cuda>(&exec)) kernels::synchronise(*cuda);
}

}  // namespace zhalo
