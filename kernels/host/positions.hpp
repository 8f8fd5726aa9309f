/// Positions read a piece at a time: runs of segments, bounds, and chunks of numbers.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/particles.hpp"

namespace zhalo::kernels {

// Particles of many segments, in the caller's order, on the host.

/// Calls f(index, row, num) for runs of at most `max_num` of the particles [first, last). A run
/// lies in one segment: `row` is its first particle, `index` the index of that on this rank. Only
/// the first segment is searched for.
template <class Real, class F>
void for_each_run(const ParticlesView<Real>& particles, Index first, Index last, Index max_num,
                  const F& f) {
  if (first >= last) return;
  const ParticleRow<Real> start = particles[first];
  const SegmentView<Real>* segment = &start.segment;
  Index row = start.row;
  for (Index index = first; index < last;) {
    if (row == segment->num) {
      ++segment;
      row = 0;
    }
    const Index num = std::min({max_num, last - index, segment->num - row});
    f(index, ParticleRow<Real>{*segment, row}, num);
    index += num;
    row += num;
  }
}

// Where many particles lie, at a glance.

/// Do the coordinates lie as x, y, z, x, y, z, ...?
template <class Real>
bool are_rows(const Strided<Real> (&pos)[3]) {
  bool are = true;
  for (int a = 0; a < 3; ++a)
    are = are && pos[a].stride_bytes == static_cast<Index>(3 * sizeof(Real)) &&
          pos[a].data == pos[0].data + a;
  return are;
}

/// The least and the most of some positions, of which there is one at least, along each axis; an
/// axis without positions counts as all 0. Both mean nothing unless all are finite.
struct PositionBounds {
  double lo[3] = {0, 0, 0};
  double hi[3] = {0, 0, 0};
  bool all_finite = true;
};
template <class Real>
PositionBounds bounds_of(const Strided<Real> (&pos)[3], Index row, Index num);

// Positions of some particles at a time, and their keys.

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

/// Some elements of a chunk.
struct ChunkPart {
  Index first;
  Index num;
};

/// Coordinates of particles of one segment, from `first` on, as they lie there.
template <class Real>
void load_coordinates(const ParticleRow<Real>& first, const ChunkPart& to,
                      PositionChunk<Real>& chunk);

/// Brings the first `num` coordinates into the form in which they are sorted. A third axis that
/// does not exist becomes 0.
template <class Real>
void wrap_and_scale(const KeyFrame& frame, Index num, PositionChunk<Real>& chunk);

/// Keys of such coordinates.
template <class Real>
void find_keys(const Real* const (&axis)[3], Index num, const KeyFrame& frame, std::uint64_t* keys);

/// Coordinates of records that lie one behind the other.
template <class Real>
void load_records(const PositionRecord<Real>* records, Index num, PositionChunk<Real>& chunk);

/// The i-th element gets the record whose number is in the lowest bits of the i-th word.
template <class Real>
void take_records(const PositionRecord<Real>* records, Span<const std::uint64_t> words,
                  int num_index_bits, const PositionColumns<Real>& to);

}  // namespace zhalo::kernels
