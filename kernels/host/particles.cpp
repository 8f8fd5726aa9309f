// Particles and elements of columns on the host: positions are looked at many at a time, one by one
// only where some need it.
#define ZHALO_BACKEND Host

#include <algorithm>

#include "kernels/host/parallel.hpp"
#include "kernels/host/positions.hpp"
#include "kernels/particles.hpp"

// The loops come first: the texts of kernels/common are written in terms of them.
#include "kernels/common/particles/columns.hpp"
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
    const auto add = [&](Index index, const ParticleRow<Real>& particle, Index num) {
      Strided<Real> pos[3];
      std::copy_n(particle.segment.pos, one_.particles.dimensions, pos);
      PositionSummary many = one_.nothing();
      if (!are_inside(bounds_of(pos, particle.row, num), many))
        many = one_by_one(index, index + num);
      sum = combine(sum, many);
    };
    for_each_run(one_.particles, first, last, max_together, add);
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
void pack_by_runs(const Host& exec, const ParticlesView<Real>& particles,
                  const PackedColumns<Real>& to) {
  const PackRow<Real> pack{particles, to};
  for_each_block(exec, particles.num, host_block, [&](Index first, Index last) {
    for_each_run(particles, first, last, host_block,
                 [&](Index index, const ParticleRow<Real>& row, Index num) {
                   for (Index i = 0; i < num; ++i) pack({row.segment, row.row + i}, index + i);
                 });
  });
}

/// One of the columns of chosen particles.
template <class Real, class T>
void pack_column(const Host& exec, const ParticlesView<Real>& particles, Span<const LocalIndex> at,
                 Span<T> PackedColumns<Real>::*column, Span<T> to) {
  if (to.empty()) return;
  const Index width = to.size() / at.size();
  Buffer<T> of_all(exec, particles.num * width, "columns of particles");
  PackedColumns<Real> only;
  only.*column = of_all.span();
  pack_by_runs(exec, particles, only);
  gather(exec, {of_all.data(), particles.num, width * static_cast<Index>(sizeof(T)), 0}, at,
         to.data());
}

}  // namespace

template <class E, class Real>
PositionSummary summarize_positions(const E& exec, const ParticlesView<Real>& particles,
                                    const Box& box) {
  const SummarizePosition<Real> one{particles, box};
  return reduce_blocks(exec, particles.num, one.nothing(), SummarizeRange<Real>(one),
                       CombineSummaries{});
}

template <class E, class Real>
void pack_all(const E& exec, const ParticlesView<Real>& particles, const PackedColumns<Real>& to) {
  pack_by_runs(exec, particles, to);
}

/// A column is put into one piece first, from which gathering is faster than from several segments
/// or axes.
template <class E, class Real>
void pack_particles(const E& exec, const ParticlesView<Real>& particles, Span<const LocalIndex> at,
                    const PackedColumns<Real>& to) {
  const auto pack = [&](auto column) { pack_column(exec, particles, at, column, to.*column); };
  pack(&PackedColumns<Real>::pos);
  pack(&PackedColumns<Real>::velocity_float);
  pack(&PackedColumns<Real>::velocity);
  pack(&PackedColumns<Real>::mass_float);
  pack(&PackedColumns<Real>::mass);
  pack(&PackedColumns<Real>::type);
}

ZHALO_INSTANTIATE_REALS(summarize_positions);
ZHALO_INSTANTIATE_REALS(pack_all);
ZHALO_INSTANTIATE_REALS(pack_particles);

}  // namespace zhalo::kernels
