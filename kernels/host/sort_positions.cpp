// From the caller's positions, or those of other ranks, to sorted ones, on the host.
#include <algorithm>
#include <bit>
#include <limits>
#include <utility>
#include <vector>

#include "kernels/host/position_sort.hpp"

namespace zhalo::kernels {
namespace {

/// By all bits.
template <class Real>
SortedColumns<Real> sort_partitioned(const Host& exec, const ParticlesView<Real>& particles,
                                     const typename PositionPartition<Real>::Frames& frames,
                                     const PartKeys& keys) {
  return PositionSort<Real, RecordParts<Real>>(
             exec, frames.keys, keys, PositionPartition<Real>(exec, particles, frames, keys).run())
      .run();
}

/// Of so many particles with keys in a range.
PartKeys usual_parts(Index num, const KeyRange& range) {
  return {range, std::min(digit_bits_of(num), range.bits)};
}

template <class Real>
SortedColumns<Real> sort_given(const Host& exec, const ParticlesView<Real>& particles,
                               const KeyFrame& frame) {
  return sort_partitioned<Real>(exec, particles, {frame, frame},
                                usual_parts(particles.num, {0, frame.key_bits()}));
}

/// Of a view of coordinates that are wrapped and scaled already.
template <class Real>
SegmentView<Real> segment_of(Index num, int dimensions, const Buffer<Real> (&pos)[3], Index first) {
  SegmentView<Real> segment;
  segment.num = num;
  for (int axis = 0; axis < dimensions; ++axis) segment.pos[axis] = {pos[axis].data() + first};
  return segment;
}

KeyFrame without_changes(int dimensions) {
  KeyFrame frame;
  frame.box.dimensions = dimensions;
  return frame;
}

/// Particles whose keys agree in the bits that count.
struct Group {
  Index first;
  Index num;
};

/// By all bits.
template <class Real>
void sort_group(const Host& exec, const Group& group, SortedColumns<Real>& sorted) {
  const int dimensions = sorted.frame.box.dimensions;
  const SegmentView<Real> segment = segment_of(group.num, dimensions, sorted.pos, group.first);
  const KeyRange range{sorted.keys.span()[group.first], sorted.num_low_bits};
  const SortedColumns<Real> of_group = sort_partitioned<Real>(
      exec, {{&segment, 1}, group.num, dimensions}, {without_changes(dimensions), sorted.frame},
      usual_parts(group.num, range));
  Buffer<LocalIndex> order(exec, group.num, "sorting of positions");
  for (Index i = 0; i < group.num; ++i)
    order.data()[i] = sorted.order.span()[group.first + of_group.order.span()[i]];
  std::copy_n(order.data(), group.num, sorted.order.data() + group.first);
  std::copy_n(of_group.keys.data(), group.num, sorted.keys.data() + group.first);
  for (std::size_t axis = 0; axis < 3; ++axis)
    std::copy_n(of_group.pos[axis].data(), group.num, sorted.pos[axis].data() + group.first);
}

template <class Real>
void sort_groups(const Host& exec, const std::vector<std::uint64_t>& keys,
                 SortedColumns<Real>& sorted) {
  std::vector<std::uint64_t> of_groups;
  of_groups.reserve(keys.size());
  for (const std::uint64_t key : keys)
    of_groups.push_back(key >> sorted.num_low_bits << sorted.num_low_bits);
  std::sort(of_groups.begin(), of_groups.end());
  of_groups.erase(std::unique(of_groups.begin(), of_groups.end()), of_groups.end());
  const std::uint64_t* const begin = sorted.keys.data();
  for (const std::uint64_t key : of_groups) {
    const auto [first, last] = std::equal_range(begin, begin + sorted.keys.size(), key);
    if (last > first) sort_group(exec, {first - begin, last - first}, sorted);
  }
}

/// No more than a partition. Keys are the lowest of each part.
template <class Real>
SortedColumns<Real> sort_by_high_bits(const Host& exec, const ParticlesView<Real>& particles,
                                      const KeyFrame& frame, Index num_usual) {
  const PartKeys keys = usual_parts(num_usual, {0, frame.key_bits()});
  const RecordParts<Real> parts =
      PositionPartition<Real>(exec, particles, {frame, frame}, keys).run();
  SortedColumns<Real> sorted = make_columns<Real>(exec, frame, particles.num);
  sorted.num_low_bits = keys.num_rest_bits();
  run_tasks(exec, keys.num_parts(), [&](Index part) {
    const Index first = parts.starts.first(part), last = first + parts.starts.size(part);
    std::fill(sorted.keys.data() + first, sorted.keys.data() + last, keys.lowest_of(part));
    const PositionRecord<Real>* const records = parts.data(part);
    for (Index i = first; i < last; ++i) put_record(records[i - first], i, sorted);
  });
  return sorted;
}

/// In parts as they came, or, where these would be too large or too many, partitioned anew.
template <class Real>
SortedColumns<Real> sort_runs(const Host& exec, ArrivedPositions<Real> arrived,
                              const KeyFrame& frame) {
  const int dimensions = frame.box.dimensions;
  const KeyRange range = range_of(arrived, frame);
  const int num_common_bits = std::max(0, range.bits - arrived.num_low_bits);
  const PartKeys as_they_came(range, std::min(digit_bits_of(arrived.num()), num_common_bits));
  if (ArrivedParts<Real>::suit(arrived, as_they_came)) {
    ArrivedParts<Real> parts(exec, std::move(arrived), frame, as_they_came);
    return PositionSort<Real, ArrivedParts<Real>>(exec, frame, as_they_came, std::move(parts))
        .run();
  }
  const PartKeys keys = usual_parts(arrived.num(), range);
  const SegmentView<Real> segment = segment_of(arrived.num(), dimensions, arrived.pos, 0);
  RecordParts<Real> parts = PositionPartition<Real>(exec, {{&segment, 1}, segment.num, dimensions},
                                                    {without_changes(dimensions), frame}, keys)
                                .run();
  arrived = {};
  return PositionSort<Real, RecordParts<Real>>(exec, frame, keys, std::move(parts)).run();
}

}  // namespace

template <>
SortedColumns<float> sort_positions(const Host& exec, const ParticlesView<float>& particles,
                                    const KeyFrame& frame) {
  return sort_given(exec, particles, frame);
}
template <>
SortedColumns<double> sort_positions(const Host& exec, const ParticlesView<double>& particles,
                                     const KeyFrame& frame) {
  return sort_given(exec, particles, frame);
}
template <>
SortedColumns<float> sort_coarsely(const Host& exec, const ParticlesView<float>& particles,
                                   const KeyFrame& frame, Index num_usual) {
  return sort_by_high_bits(exec, particles, frame, num_usual);
}
template <>
SortedColumns<double> sort_coarsely(const Host& exec, const ParticlesView<double>& particles,
                                    const KeyFrame& frame, Index num_usual) {
  return sort_by_high_bits(exec, particles, frame, num_usual);
}
template <>
void sort_around(const Host& exec, const std::vector<std::uint64_t>& keys,
                 SortedColumns<float>& sorted) {
  sort_groups(exec, keys, sorted);
}
template <>
void sort_around(const Host& exec, const std::vector<std::uint64_t>& keys,
                 SortedColumns<double>& sorted) {
  sort_groups(exec, keys, sorted);
}
template <>
SortedColumns<float> sort_arrived(const Host& exec, ArrivedPositions<float> arrived,
                                  const KeyFrame& frame) {
  return sort_runs(exec, std::move(arrived), frame);
}
template <>
SortedColumns<double> sort_arrived(const Host& exec, ArrivedPositions<double> arrived,
                                   const KeyFrame& frame) {
  return sort_runs(exec, std::move(arrived), frame);
}

}  // namespace zhalo::kernels
