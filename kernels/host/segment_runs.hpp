/// Particles of many segments, in the caller's order, on the host.
#pragma once

#include <algorithm>

#include "kernels/particles.hpp"

namespace zhalo::kernels {

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

}  // namespace zhalo::kernels
