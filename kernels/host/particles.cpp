// Particles and elements of columns on the host: positions are looked at many at a time, one by one
// only where some need it.
#define ZHALO_BACKEND Host

#include <algorithm>

#include "kernels/host/parallel.hpp"
#include "kernels/host/position_bounds.hpp"
#include "kernels/particles.hpp"

namespace zhalo::kernels {

// The common text's way is for devices.
ZHALO_SPECIALIZE_REALS(summarize_positions);
ZHALO_SPECIALIZE_REALS(sort_positions);  // in sort_positions.cpp
ZHALO_SPECIALIZE_REALS(sort_coarsely);   // there, too
ZHALO_SPECIALIZE_REALS(sort_around);     // there, too
ZHALO_SPECIALIZE_REALS(sort_arrived);    // there, too

}  // namespace zhalo::kernels

// The loops come first: the texts of kernels/common are written in terms of them.
#include "kernels/common/particles/columns.hpp"
#include "kernels/common/particles/elements.hpp"
#include "kernels/common/particles/positions.hpp"

namespace zhalo::kernels {

namespace {

template <class Real>
class SummarizeRange {
 public:
  explicit SummarizeRange(const SummarizePosition<Real>& one) : one_(one) {}

  PositionSummary operator()(Index first, Index last) const {
    constexpr Index max_together = 256;
    constexpr CombineSummaries combine{};
    PositionSummary sum = one_.nothing();
    while (first < last) {
      const ParticleRow<Real> particle = one_.particles[first];
      const Index num = std::min({max_together, last - first, particle.segment.num - particle.row});
      Strided<Real> pos[3];
      std::copy_n(particle.segment.pos, one_.particles.dimensions, pos);
      PositionSummary many = one_.nothing();
      if (!are_inside(bounds_of(pos, particle.row, num), many))
        many = one_by_one(first, first + num);
      sum = combine(sum, many);
      first += num;
    }
    return sum;
  }

 private:
  /// All are finite and inside the box, so that only their extent is to be known.
  bool are_inside(const PositionBounds& bounds, PositionSummary& summary) const {
    for (int axis = 0; axis < 3; ++axis) {
      summary.lo[axis] = bounds.lo[axis];
      summary.hi[axis] = bounds.hi[axis];
      if (axis >= one_.box.dimensions || one_.box.length[axis] == 0) continue;
      const double lo = one_.box.lo[axis];
      if (bounds.lo[axis] < lo || bounds.hi[axis] >= lo + one_.box.length[axis]) return false;
    }
    return bounds.all_finite;
  }

  PositionSummary one_by_one(Index first, Index last) const {
    PositionSummary sum = one_.nothing();
    for (Index i = first; i < last; ++i) sum = CombineSummaries{}(sum, one_(i));
    return sum;
  }

  SummarizePosition<Real> one_;
};

template <class Real>
PositionSummary summarize_blocks(const Host& exec, const ParticlesView<Real>& particles,
                                 const Box& box) {
  const SummarizePosition<Real> one{particles, box};
  return reduce_blocks(exec, particles.num, one.nothing(), SummarizeRange<Real>(one),
                       CombineSummaries{});
}

}  // namespace

template <>
PositionSummary summarize_positions(const Host& exec, const ParticlesView<float>& particles,
                                    const Box& box) {
  return summarize_blocks(exec, particles, box);
}
template <>
PositionSummary summarize_positions(const Host& exec, const ParticlesView<double>& particles,
                                    const Box& box) {
  return summarize_blocks(exec, particles, box);
}

}  // namespace zhalo::kernels
