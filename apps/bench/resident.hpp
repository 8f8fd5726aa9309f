/// What the system says about this process's memory: the cross-check of the pools' own counters.
#pragma once

#include <cstddef>
#include <optional>

namespace zhalo::bench {

/// Forgets the peak of the resident set (Linux; elsewhere or without permission nothing happens and the peak only grows).
void reset_resident_peak();

/// Bytes of the resident set now, and its peak; none where /proc is missing.
struct Resident {
  std::size_t now = 0;
  std::size_t peak = 0;
};
std::optional<Resident> resident();

}  // namespace zhalo::bench
