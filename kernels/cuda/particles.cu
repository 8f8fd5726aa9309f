// Particles, their order and elements of columns on CUDA. Of positions a warp reads the coordinates
// of 32 particles in the order in which they lie in memory.
#define ZHALO_BACKEND Cuda

#include <type_traits>

#include "kernels/cuda/reduce.cuh"
#include "kernels/lanes/warp_lanes.cuh"
#include "kernels/particles.hpp"

namespace zhalo::kernels {

/// Calls take.take(i, position of particle take.particle(i)) for `num` elements i. Where the
/// coordinates of a particle lie side by side, neighbouring lanes read them: one by one each lane
/// would ask for the same piece of memory again for each axis.
template <class Take, class Real>
struct TakePositions {
  static constexpr int max_particles = WarpLanes<Real>::size;
  static constexpr int rounds = 4;  ///< of so many particles, one after the other
  static constexpr Index per_item = Index{rounds} * max_particles;
  static constexpr int warps_at_once = 24;  ///< on a multiprocessor

  struct Scratch {
    Real x[3 * max_particles];
    LocalIndex row[max_particles];
  };

  Take take;
  Index num;

  __device__ void operator()(const WarpLanes<Real>& lanes, Index item, Scratch& s) const {
    const int dimensions = take.particles.dimensions;
    const Strided<Real> first_axis = take.particles.segments[0].pos[0];
    const bool together = lie_together(first_axis, dimensions);
    for (int round = 0; round < rounds; ++round) {
      const Index first = item * per_item + Index{round} * max_particles;
      const Index left = num - first;
      if (left <= 0) return;
      const Index here = left < max_particles ? left : max_particles;
      if (together) {
        take_rows(lanes, first_axis, {first, here}, s);
      } else {
        lanes.for_each_lane(here, [&](Index i) { take(first + i); });
      }
    }
  }

 private:
  struct Elements {
    Index first;
    Index num;
  };

  /// One segment, whose coordinates follow each other.
  __device__ bool lie_together(const Strided<Real>& first_axis, int dimensions) const {
    bool together = take.particles.segments.size() == 1;
    for (int axis = 1; axis < dimensions; ++axis) {
      const Strided<Real>& pos = take.particles.segments[0].pos[axis];
      together = together && pos.data == first_axis.data + axis &&
                 pos.stride_bytes == first_axis.stride_bytes;
    }
    return together;
  }

  __device__ void take_rows(const WarpLanes<Real>& lanes, const Strided<Real>& first_axis,
                            const Elements& elements, Scratch& s) const {
    const auto dimensions = static_cast<unsigned>(take.particles.dimensions);
    lanes.for_each_lane(elements.num, [&](Index i) {
      s.row[i] = static_cast<LocalIndex>(take.particle(elements.first + i));
    });
    lanes.sync();
    lanes.for_each_lane(elements.num * dimensions, [&](Index e) {
      const unsigned row = static_cast<unsigned>(e) / dimensions;
      const unsigned axis = static_cast<unsigned>(e) - row * dimensions;
      s.x[e] = (&first_axis[s.row[row]])[axis];
    });
    lanes.sync();
    lanes.for_each_lane(elements.num, [&](Index i) {
      const Real* x = s.x + i * dimensions;
      take.take(elements.first + i, Vec<Real, 3>{{x[0], x[1], dimensions == 3 ? x[2] : Real{0}}});
    });
    lanes.sync();
  }
};

template <class Real, class Take>
void take_positions(const Cuda& exec, const ParticlesView<Real>& particles, const Take& take) {
  using Loop = TakePositions<Take, Real>;
  static_assert(std::is_trivially_copyable_v<Take>, "values and device pointers only");
  const Index num_items = (particles.num + Loop::per_item - 1) / Loop::per_item;
  for_each_with_lanes(exec, num_items, Loop{take, particles.num}, WarpLanes<Real>{});
}

}  // namespace zhalo::kernels

// The loops come first: the texts of kernels/common are written in terms of them.
#include "kernels/common/particles/columns.hpp"
#include "kernels/common/particles/positions.hpp"

namespace zhalo::kernels {

template <class E, class Real>
PositionSummary summarize_positions(const E& exec, const ParticlesView<Real>& particles,
                                    const Box& box) {
  const SummarizePosition<Real> one{particles, box};
  return transform_reduce(exec, particles.num, one.nothing(), one, CombineSummaries{});
}

/// Sorted keys of 32 bits, and the memory that they are in.
struct ShortKeys {
  Buffer<std::uint32_t> keys;
  Buffer<std::uint32_t> spare;
  Span<const std::uint32_t> sorted;
};

struct WidenKey {
  Span<const std::uint32_t> from;
  Span<std::uint64_t> to;

  ZHALO_HD void operator()(Index i) const { to[i] = from[i]; }
};

/// make_keys(keys) queues what writes the keys, of either size. The order must be numbered by then.
/// Short keys are sorted as such. They are returned, and still have to be made wide.
template <class Real, class MakeKeys>
ShortKeys sort_by_keys(const Cuda& exec, const MakeKeys& make_keys, SortedColumns<Real>& sorted) {
  const Index num = sorted.order.size();
  const int bits = sorted.frame.key_bits();
  if (bits <= bits_of_short_key) {
    ShortKeys made{{exec, num, "short keys"}, {exec, num, "sorting of keys"}, {}};
    make_keys(made.keys.span());
    Buffer<LocalIndex> spare_order(exec, num, "sorting of keys");
    made.sorted = sort_short_pairs(
        exec, {made.keys.span(), sorted.order.span(), made.spare.span(), spare_order.span()}, bits);
    return made;
  }
  sorted.keys = Buffer<std::uint64_t>(exec, num, "keys");
  make_keys(sorted.keys.span());
  Buffer<std::uint64_t> spare_keys(exec, num, "sorting of keys");
  Buffer<LocalIndex> spare_order(exec, num, "sorting of keys");
  sort_pairs(exec, {sorted.keys.span(), sorted.order.span(), spare_keys.span(), spare_order.span()},
             bits);
  return {};
}

/// GatherPosition, and keys become wide in the same pass.
template <class Real>
struct GatherPositionAndKey : GatherPosition<Real> {
  WidenKey widen;

  ZHALO_HD void operator()(Index i) const {
    GatherPosition<Real>::operator()(i);
    widen(i);
  }
  ZHALO_HD void take(Index i, const Vec<Real, 3>& pos) const {
    GatherPosition<Real>::take(i, pos);
    widen(i);
  }
};

template <class E, class Real>
SortedColumns<Real> sort_positions(const E& exec, const ParticlesView<Real>& particles,
                                   const KeyFrame& frame) {
  const Index num = particles.num;
  SortedColumns<Real> sorted;
  sorted.frame = frame;
  sorted.order = Buffer<LocalIndex>(exec, num, "sorted order");
  const auto make = [&]<class Key>(Span<Key> keys) {
    for_each_position(exec, MakeKey<Real, Key>{particles, frame, keys, sorted.order.span()});
  };
  const ShortKeys made = sort_by_keys(exec, make, sorted);
  if (sorted.keys.size() != num) sorted.keys = Buffer<std::uint64_t>(exec, num, "keys");
  for (auto& axis : sorted.pos) axis = Buffer<Real>(exec, num, "sorted positions");
  const GatherPosition<Real> gather{particles, frame, sorted.order.span(), sorted.positions()};
  if (made.sorted.empty()) {
    for_each_position(exec, gather);
  } else {
    for_each_position(exec, GatherPositionAndKey<Real>{gather, {made.sorted, sorted.keys.span()}});
  }
  return sorted;
}

template <class E, class Real>
DepartingPositions<Real> sort_coarsely(const E& exec, const ParticlesView<Real>& particles,
                                       const KeyFrame& frame, Index) {
  return make_records(exec, sort_positions(exec, particles, frame));
}

template <class E, class Real>
void sort_around(const E&, const std::vector<std::uint64_t>&, DepartingPositions<Real>&) {}

template <class Real>
struct TakeArrived {
  Span<const PositionRecord<Real>> records;
  SourcesView sources;
  Span<const LocalIndex> order;
  SortedPositions<Real> to;
  Span<Index> global_index;

  ZHALO_HD void operator()(Index i) const {
    const LocalIndex from = order[i];
    const PositionRecord<Real> record = records[from];
    for (int axis = 0; axis < 3; ++axis) to.axis[axis][i] = record.pos[axis];
    global_index[i] = sources.global(from, record.index);
  }
};

template <class E, class Real>
SortedColumns<Real> sort_arrived(const E& exec, ArrivedPositions<Real> arrived,
                                 const KeyFrame& frame, Span<Index> global_index) {
  using Record = PositionRecord<Real>;
  const Index num = arrived.num();
  SortedColumns<Real> sorted;
  sorted.frame = frame;
  if (num == 0) return sorted;
  const Record* const records = arrived.records.data();
  sorted.order = Buffer<LocalIndex>(exec, num, "sorted order");
  number(exec, sorted.order.span());
  const auto axis = [&](int i) { return Strided<Real>{records->pos + i, sizeof(Record)}; };
  const auto make = [&]<class Key>(Span<Key> keys) {
    for_each(exec, num,
             MakeKeyOfSorted<Real, Key>{{axis(0), axis(1), axis(2)}, frame, 1 / frame.scale, keys});
  };
  if (const ShortKeys made = sort_by_keys(exec, make, sorted); !made.sorted.empty()) {
    sorted.keys = Buffer<std::uint64_t>(exec, num, "keys");
    for_each(exec, num, WidenKey{made.sorted, sorted.keys.span()});
  }
  for (auto& pos : sorted.pos) pos = Buffer<Real>(exec, num, "sorted positions");
  for_each(exec, num,
           TakeArrived<Real>{arrived.records.span(), arrived.sources, sorted.order.span(),
                             sorted.positions(), global_index});
  return sorted;
}

template <class Real>
struct PackEach {
  PackRow<Real> row;

  ZHALO_HD void operator()(Index i) const { row(row.particles[i], i); }
};

template <class E, class Real>
void pack_all(const E& exec, const ParticlesView<Real>& particles, const PackedColumns<Real>& to) {
  for_each(exec, particles.num, PackEach<Real>{{particles, to}});
}

template <class Real>
struct PackParticle {
  PackRow<Real> row;
  Span<const LocalIndex> at;

  ZHALO_HD void operator()(Index i) const { row(row.particles[at[i]], i); }
};

template <class E, class Real>
void pack_particles(const E& exec, const ParticlesView<Real>& particles, Span<const LocalIndex> at,
                    const PackedColumns<Real>& to) {
  for_each(exec, at.size(), PackParticle<Real>{{particles, to}, at});
}

ZHALO_INSTANTIATE_REALS(summarize_positions);
ZHALO_INSTANTIATE_REALS(sort_positions);
ZHALO_INSTANTIATE_REALS(sort_coarsely);
ZHALO_INSTANTIATE_REALS(sort_around);
ZHALO_INSTANTIATE_REALS(sort_arrived);
ZHALO_INSTANTIATE_REALS(pack_all);
ZHALO_INSTANTIATE_REALS(pack_particles);

}  // namespace zhalo::kernels
