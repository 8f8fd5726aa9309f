/// Positions of some particles at a time, and their keys.
#pragma once

#include <cstdint>

#include "kernels/particles.hpp"

namespace zhalo::kernels {

template <class Real>
struct PositionChunk {
  static constexpr Index max_num = 256;
  alignas(64) Real axis[3][max_num];
};

/// Coordinates of `num` particles of the segment, from `row` on, as they are sorted: wrapped, and
/// multiplied by the frame's scale. A third axis that does not exist is 0.
void load_chunk(const ParticleRow<float>& first, Index num, const KeyFrame& frame,
                PositionChunk<float>& chunk);
void load_chunk(const ParticleRow<double>& first, Index num, const KeyFrame& frame,
                PositionChunk<double>& chunk);

/// Keys of such coordinates.
void find_keys(const float* const (&axis)[3], Index num, const KeyFrame& frame,
               std::uint64_t* keys);
void find_keys(const double* const (&axis)[3], Index num, const KeyFrame& frame,
               std::uint64_t* keys);

}  // namespace zhalo::kernels
