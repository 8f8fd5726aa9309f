/// Time and memory of one call.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "resident.hpp"
#include "zhalo/core/memory.hpp"

namespace zhalo::bench {

using Clock = std::chrono::steady_clock;
inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Bytes beyond the input, over one call.
struct Footprint {
  double pool = 0;
  std::optional<double> resident_set;
};

template <class Work>
Footprint footprint_of(MemoryPool& pool, const Work& work) {
  reset_resident_peak();
  const std::optional<Resident> before = resident();
  const std::size_t in_use = pool.bytes_in_use();
  pool.reset_peak();
  work();
  const std::optional<Resident> after = resident();
  Footprint result{static_cast<double>(pool.peak_bytes() - in_use), std::nullopt};
  if (before && after)
    result.resident_set = static_cast<double>(std::max(after->peak, before->now) - before->now);
  return result;
}

}  // namespace zhalo::bench
