/// The least time that a machine's memory and links allow a transform.
#pragma once

#include <array>

#include "zhalo/comm/context.hpp"

namespace zhalo::bench {

/// Measured on all ranks at once, by arrays as large as the field: where that fits into caches, so
/// do the transform's passes.
struct Bandwidths {
  double memory = 0;  ///< bytes per second and rank: each element read and written in place, by the
                      ///< context's threads
  double link =
      0;  ///< bytes per second and rank, one way: every rank sends to every other; 0 on one rank
};
/// `bytes`: S, of a rank's field. Collective.
Bandwidths measure_bandwidths(const Context& context, Index bytes);

/// Of one transform, forward or backward.
struct FftLimit {
  double memory_seconds =
      0;  ///< (6 + 2 e) S / memory: three passes of transforms of lines, and e exchanges
  double link_seconds = 0;  ///< S ((1 - 1 / rows) + (1 - 1 / columns)) / link

  double lowest() const {
    return memory_seconds > link_seconds ? memory_seconds : link_seconds;
  }                                                                 ///< all at the same time
  double highest() const { return memory_seconds + link_seconds; }  ///< one after the other
};
/// `shape`: rows and columns of ranks; an exchange for each that is more than 1.
FftLimit limit_of(const Bandwidths& bandwidths, double bytes, const std::array<int, 2>& shape);

}  // namespace zhalo::bench
