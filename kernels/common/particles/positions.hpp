/// Looking at positions, making keys, bringing coordinates into sorted order.
#pragma once

#include <limits>
#include <type_traits>
#include <utility>

#include "kernels/common/backend.hpp"
#include "kernels/particles.hpp"
#include "kernels/sort.hpp"

namespace zhalo::kernels {

template <class Real>
struct SummarizePosition {
  static constexpr double inf = std::numeric_limits<double>::infinity();
  static constexpr Index last = std::numeric_limits<Index>::max();
  ParticlesView<Real> particles;
  Box box;

  ZHALO_HD PositionSummary operator()(Index i) const {
    const Vec<Real, 3> pos = particles[i].pos(particles.dimensions);
    PositionSummary summary = nothing();
    bool outside = false;
    bool wrapped = false;
    bool finite = true;
    for (int axis = 0; axis < 3; ++axis) {
      const double x = static_cast<double>(pos[axis]);
      finite = finite && x - x == 0;
      summary.lo[axis] = summary.hi[axis] = x;
      if (axis >= box.dimensions || box.length[axis] == 0) continue;
      const double lo = box.lo[axis];
      const double hi = lo + box.length[axis];
      wrapped = wrapped || (box.periodic[axis] && (x < lo || x >= hi));
      outside = outside || (!box.periodic[axis] && is_beyond(pos[axis], lo, hi));
    }
    if (!finite) return bad(i);
    summary.num_wrapped = wrapped ? 1 : 0;
    if (outside) {
      summary.num_outside = 1;
      summary.first_outside = i;
    }
    return summary;
  }

  /// Outside [lo, hi], where an edge rounded to the positions' precision is still inside.
  ZHALO_HD static bool is_beyond(Real x, double lo, double hi) {
    const double value = static_cast<double>(x);
    return (value < lo && x < static_cast<Real>(lo)) || (value > hi && x > static_cast<Real>(hi));
  }

  /// The summary of no particles.
  ZHALO_HD static PositionSummary nothing() {
    return {{{inf, inf, inf}}, {{-inf, -inf, -inf}}, 0, last, 0, last, 0};
  }

  ZHALO_HD static PositionSummary bad(Index i) {
    PositionSummary summary = nothing();
    summary.num_not_finite = 1;
    summary.first_not_finite = i;
    return summary;
  }
};

struct CombineSummaries {
  ZHALO_HD PositionSummary operator()(const PositionSummary& a, const PositionSummary& b) const {
    PositionSummary both = a;
    for (int axis = 0; axis < 3; ++axis) {
      both.lo[axis] = b.lo[axis] < a.lo[axis] ? b.lo[axis] : a.lo[axis];
      both.hi[axis] = b.hi[axis] > a.hi[axis] ? b.hi[axis] : a.hi[axis];
    }
    both.num_not_finite += b.num_not_finite;
    both.first_not_finite =
        b.first_not_finite < a.first_not_finite ? b.first_not_finite : a.first_not_finite;
    both.num_outside += b.num_outside;
    both.first_outside = b.first_outside < a.first_outside ? b.first_outside : a.first_outside;
    both.num_wrapped += b.num_wrapped;
    return both;
  }
};

template <class E, class Real>
void queue_position_summary(const E& exec, const ParticlesView<Real>& particles, const Box& box,
                            PositionSummary* to) {
  if constexpr (std::is_same_v<E, Host>) {
    *to = summarize_positions(exec, particles, box);
  } else {
    const SummarizePosition<Real> one{particles, box};
    queue_reduce(exec, particles.num, MapReduce{one.nothing(), one, CombineSummaries{}}, to);
  }
}

template <class Real>
struct SamplePosition {
  ParticlesView<Real> particles;
  PositionSample<Real> sample;
  KeyFrame frame;

  ZHALO_HD void operator()(Index s) const {
    const Index i = sample.index(s) - sample.first;
    Vec<Real, 3> pos{};
    if (i >= 0 && i < particles.num) pos = particles[i].pos(particles.dimensions);
    for (int axis = 0; axis < 3; ++axis) {
      const bool is_there = axis < particles.dimensions && i >= 0 && i < particles.num;
      sample.to[axis * sample.num + s] = is_there ? frame.wrapped(pos[axis], axis) : Real{0};
    }
  }
};

template <class E, class Real>
void sample_positions(const E& exec, const ParticlesView<Real>& particles, const Box& box,
                      const PositionSample<Real>& sample) {
  KeyFrame frame;
  frame.box = box;
  for_each(exec, sample.num, SamplePosition<Real>{particles, sample, frame});
}

/// Of a position in the box, without a scale.
ZHALO_HD inline std::uint64_t key_of(const KeyFrame& frame, const Vec3d& pos) {
  const double last = static_cast<double>((std::uint64_t{1} << frame.bits_per_axis) - 1);
  std::uint32_t cell[3] = {};
  for (int axis = 0; axis < frame.box.dimensions; ++axis) {
    const double at = (pos[axis] - frame.corner[axis]) * frame.cells_per_length;
    cell[axis] = static_cast<std::uint32_t>(at > 0 ? (at < last ? at : last)
                                                   : 0);  // NaN, of an extent that overflows, is 0
  }
  return frame.box.dimensions == 3 ? morton3(cell[0], cell[1], cell[2]) : morton2(cell[0], cell[1]);
}

/// What is done with particle(i) for each element i: take() gets its position.
template <class Real, class Key>
struct MakeKey {
  ParticlesView<Real> particles;
  KeyFrame frame;
  Span<Key> keys;
  Span<LocalIndex> order;

  ZHALO_HD Index particle(Index i) const { return i; }

  ZHALO_HD void operator()(Index i) const { take(i, particles[i].pos(particles.dimensions)); }

  ZHALO_HD void take(Index i, const Vec<Real, 3>& pos) const {
    Vec3d wrapped;
    for (int axis = 0; axis < particles.dimensions; ++axis)
      wrapped[axis] = static_cast<double>(frame.wrapped(pos[axis], axis));
    keys[i] = static_cast<Key>(key_of(frame, wrapped));
    order[i] = static_cast<LocalIndex>(i);
  }
};

/// Over all particles of take.particles.
template <class E, class Take>
void for_each_position(const E& exec, const Take& take) {
  if constexpr (std::is_same_v<E, Host>) {
    for_each(exec, take.particles.num, take);
  } else {
    take_positions(exec, take.particles, take);
  }
}

template <class E, class Real>
void make_keys(const E& exec, const ParticlesView<Real>& particles, const KeyFrame& frame,
               Span<std::uint64_t> keys, Span<LocalIndex> order) {
  for_each_position(exec, MakeKey<Real, std::uint64_t>{particles, frame, keys, order});
}

/// Of coordinates that are wrapped and scaled already.
template <class Real, class Key>
struct MakeKeyOfSorted {
  Strided<Real> sorted[3];
  KeyFrame frame;
  double unscale;
  Span<Key> keys;

  ZHALO_HD void operator()(Index i) const {
    Vec3d pos;
    for (int axis = 0; axis < frame.box.dimensions; ++axis)
      pos[axis] = static_cast<double>(sorted[axis][i]) * unscale;
    keys[i] = static_cast<Key>(key_of(frame, pos));
  }
};

template <class E, class Real>
void make_keys_of_sorted(const E& exec, const SortedPositions<Real>& sorted, const KeyFrame& frame,
                         Span<std::uint64_t> keys) {
  for_each(
      exec, keys.size(),
      MakeKeyOfSorted<Real, std::uint64_t>{
          {{sorted.axis[0]}, {sorted.axis[1]}, {sorted.axis[2]}}, frame, 1 / frame.scale, keys});
}

template <class Real>
struct GatherPosition {
  ParticlesView<Real> particles;
  KeyFrame frame;
  Span<const LocalIndex> order;
  SortedPositions<Real> sorted;

  ZHALO_HD void prefetch(Index i) const {
    const ParticleRow<Real> particle = particles[order[i]];
    for (int axis = 0; axis < particles.dimensions; ++axis)
      prefetch_line(&particle.segment.pos[axis][particle.row]);
  }

  ZHALO_HD Index particle(Index i) const { return order[i]; }

  ZHALO_HD void operator()(Index i) const {
    take(i, particles[order[i]].pos(particles.dimensions));
  }

  ZHALO_HD void take(Index i, const Vec<Real, 3>& pos) const {
    for (int axis = 0; axis < 3; ++axis) {
      const Real x = axis < particles.dimensions ? frame.wrapped(pos[axis], axis) : Real{0};
      // In double: the scale may be beyond float although the product is not.
      sorted.axis[axis][i] = static_cast<Real>(static_cast<double>(x) * frame.scale);
    }
  }
};

template <class E, class Real>
void gather_positions(const E& exec, const ParticlesView<Real>& particles, const KeyFrame& frame,
                      Span<const LocalIndex> order, const SortedPositions<Real>& sorted) {
  for_each_position(exec, GatherPosition<Real>{particles, frame, order, sorted});
}

template <class Real>
struct MakeRecord {
  SortedPositions<Real> sorted;
  Span<const LocalIndex> order;
  Span<PositionRecord<Real>> records;

  ZHALO_HD void operator()(Index i) const {
    records[i] = {{sorted.axis[0][i], sorted.axis[1][i], sorted.axis[2][i]}, order[i]};
  }
};

template <class E, class Real>
DepartingPositions<Real> make_records(const E& exec, SortedColumns<Real> sorted) {
  DepartingPositions<Real> departing;
  departing.frame = sorted.frame;
  departing.records = Buffer<PositionRecord<Real>>(exec, sorted.order.size(), "positions to send");
  for_each(exec, sorted.order.size(),
           MakeRecord<Real>{sorted.positions(), sorted.order.span(), departing.records.span()});
  departing.keys = std::move(sorted.keys);
  return departing;
}

template <class Real>
struct TakeIndex {
  Span<const PositionRecord<Real>> records;
  Span<LocalIndex> indices;

  ZHALO_HD void operator()(Index i) const { indices[i] = records[i].index; }
};

template <class E, class Real>
void take_indices(const E& exec, Span<const PositionRecord<Real>> records,
                  Span<LocalIndex> indices) {
  for_each(exec, records.size(), TakeIndex<Real>{records, indices});
}

ZHALO_INSTANTIATE_REALS(queue_position_summary);
ZHALO_INSTANTIATE_REALS(sample_positions);
ZHALO_INSTANTIATE_REALS(make_keys);
ZHALO_INSTANTIATE_REALS(gather_positions);
ZHALO_INSTANTIATE_REALS(make_records);
ZHALO_INSTANTIATE_REALS(take_indices);
ZHALO_INSTANTIATE_REALS(make_keys_of_sorted);

}  // namespace zhalo::kernels
