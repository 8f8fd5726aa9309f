/// Waiting for a device.
#pragma once

#include "kernels/memory.hpp"
#include "zhalo/core/exec.hpp"

namespace zhalo {

/// Waits for what is queued. Unlike wait() it throws an error of that work: where the other ranks
/// can still be told.
inline void synchronise(const Exec& exec) {
  if (const auto* cuda = std::get_if<Cuda>(&exec)) kernels::synchronise(*cuda);
}

}  // namespace zhalo
