/// Index types. Everything that counts over all ranks is 64-bit; positions inside one rank's sorted
/// array are 32-bit, which halves the memory of sort, tree and union-find (docs/architecture.md).
#pragma once

#include <cstdint>
#include <limits>

namespace zhalo {

/// Counts, offsets, global indices and group labels.
using Index = std::int64_t;

/// Place of a particle in one rank's sorted array.
using LocalIndex = std::uint32_t;

/// Most particles that one rank can hold; more need more ranks.
inline constexpr Index max_local_particles = std::numeric_limits<LocalIndex>::max() - 1023;

/// Group of a particle that belongs to no group in the catalogue.
inline constexpr Index no_group = -1;

}  // namespace zhalo
