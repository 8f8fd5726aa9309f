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

/// Where coordinates and indices of records go.
template <class Real>
struct PositionColumns {
  Real* pos[3];
  LocalIndex* index;
};

/// Coordinates of `num` particles of the segment, from `first` on, as they are sorted: wrapped, and
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

/// Coordinates of records that lie one behind the other.
void load_records(const PositionRecord<float>* records, Index num, PositionChunk<float>& chunk);
void load_records(const PositionRecord<double>* records, Index num, PositionChunk<double>& chunk);

/// The i-th place gets the record whose number is in the lowest bits of the i-th word.
void take_records(const PositionRecord<float>* records, Span<const std::uint64_t> words,
                  int num_index_bits, const PositionColumns<float>& to);
void take_records(const PositionRecord<double>* records, Span<const std::uint64_t> words,
                  int num_index_bits, const PositionColumns<double>& to);

}  // namespace zhalo::kernels
