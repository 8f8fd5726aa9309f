/// What the system says about this process's memory: the cross-check of the pools' own counters.
#pragma once

#include <cstddef>
#include <optional>

namespace zhalo::bench {

/// Forgets the peak of the resident set (Linux; elsewhere or without permission nothing happens and
/// the peak only grows).
void reset_resident_peak();

/// Bytes of the resident set now, and its peak; none where /proc is missing.
struct Resident {
  std::size_t now = 0;
  std::size_t peak = 0;
};
std::optional<Resident> resident();

/// Bytes of shared memory that the resident set counts here and other processes' count, too, so
/// that the sum over all is too large by this; 0 where the system does not say (Linux before 5.4).
std::size_t shared_resident_excess();

}  // namespace zhalo::bench
