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

/// Places in a chunk.
struct ChunkPart {
  Index first;
  Index num;
};

/// Coordinates of particles of one segment, from `first` on, as they lie there.
void load_coordinates(const ParticleRow<float>& first, const ChunkPart& to,
                      PositionChunk<float>& chunk);
void load_coordinates(const ParticleRow<double>& first, const ChunkPart& to,
                      PositionChunk<double>& chunk);

/// Brings the first `num` coordinates into the form in which they are sorted. A third axis that
/// does not exist becomes 0.
void wrap_and_scale(const KeyFrame& frame, Index num, PositionChunk<float>& chunk);
void wrap_and_scale(const KeyFrame& frame, Index num, PositionChunk<double>& chunk);

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
