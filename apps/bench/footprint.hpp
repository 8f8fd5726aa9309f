/// Time and memory of one call: by the pools' own counters, and by what the system says of this
/// process.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

#include "zhalo/core/memory.hpp"

namespace zhalo::bench {

using Clock = std::chrono::steady_clock;
inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Forgets the peak of the resident set (Linux; elsewhere or without permission nothing happens and
/// the peak only grows).
inline void reset_resident_peak() { std::ofstream("/proc/self/clear_refs") << 5; }

/// The number of kibibytes behind a word, in bytes; 0 if there is none.
inline std::size_t bytes_of(const char* path, const std::string& word) {
  std::ifstream file(path);
  for (std::string key; file >> key;) {
    std::size_t kibibytes = 0;
    if (key == word && file >> kibibytes) return kibibytes * 1024;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return 0;
}

/// Bytes of the resident set now, and its peak; none where /proc is missing.
struct Resident {
  std::size_t now = 0;
  std::size_t peak = 0;
};
inline std::optional<Resident> resident() {
  const Resident result{bytes_of("/proc/self/status", "VmRSS:"),
                        bytes_of("/proc/self/status", "VmHWM:")};
  return result.now == 0 ? std::nullopt : std::optional(result);
}

/// Bytes of shared memory that the resident set counts here and other processes' count, too, so
/// that the sum over all is too large by this; 0 where the system does not say (Linux before 5.4).
inline std::size_t shared_resident_excess() {
  const std::size_t counted = bytes_of("/proc/self/status", "RssShmem:");
  const std::size_t own_share = bytes_of("/proc/self/smaps_rollup", "Pss_Shmem:");
  return own_share > 0 && counted > own_share ? counted - own_share : 0;
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
