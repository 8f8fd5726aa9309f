/// Particles of many short segments, painted as one: what is done for each segment costs as much as
/// a thousand particles do.
#pragma once

#include <algorithm>

#include "kernels/common/mesh/paint.hpp"
#include "kernels/particles.hpp"

namespace zhalo::kernels {

template <class Real>
bool has_short_segments(const ParticlesView<Real>& particles) {
  constexpr Index few_segments = 16, short_segment = 1024;
  const Index num_segments = particles.segments.size();
  return num_segments > few_segments && particles.num < short_segment * num_segments;
}

/// visit(painted) for all particles, packed into one segment, some at a time.
template <class Real, class Visit>
void for_each_packed(const Host& exec, const PaintInput<Real>& painted, const Visit& visit) {
  const Index num = painted.particles.num;
  const Index num_at_once = std::min(num, Index{1} << 20);
  Buffer<LocalIndex> numbers(exec, num_at_once, "particles of short segments");
  Buffer<Real> pos(exec, 3 * num_at_once, "particles of short segments");
  Buffer<double> fixed_weight(exec, num_at_once, "particles of short segments");
  number(exec, numbers.span());
  for (Index first = 0; first < num; first += num_at_once) {
    const Index here = std::min(num_at_once, num - first);
    const auto axis = [&](Index a) { return pos.span().subspan(a * num_at_once, here); };
    pack_painted(exec, painted, first, Span<const LocalIndex>(numbers.span()).subspan(0, here),
                 {{axis(0), axis(1), axis(2)}, fixed_weight.span().subspan(0, here)});
    SegmentView<Real> segment;
    segment.num = here;
    for (Index a = 0; a < 3; ++a) segment.pos[a] = {axis(a).data()};
    segment.mass = fixed_weight.data();
    PaintInput<Real> packed;  // weights are in units
    packed.particles.segments = {&segment, 1};
    packed.particles.num = here;
    visit(packed);
  }
}

}  // namespace zhalo::kernels
