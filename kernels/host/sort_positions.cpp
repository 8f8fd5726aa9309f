// From the caller's positions, or those of other ranks, to sorted ones, on the host.
#include <algorithm>
#include <bit>
#include <limits>
#include <utility>
#include <vector>

#include "kernels/host/position_sort.hpp"

namespace zhalo::kernels {
namespace {

template <class Real>
SortedColumns<Real> sort_given(const Host& exec, const ParticlesView<Real>& particles,
                               const KeyFrame& frame) {
  return PositionSort<Real>(exec, particles, {frame, frame}, {0, frame.key_bits()}).sort();
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
  const SortedColumns<Real> of_group =
      PositionSort<Real>(exec, {{&segment, 1}, group.num, dimensions},
                         {without_changes(dimensions), sorted.frame}, range)
          .sort();
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

template <class Real>
SortedColumns<Real> sort_by_high_bits(const Host& exec, const ParticlesView<Real>& particles,
                                      const KeyFrame& frame, Index num_usual) {
  const int num_bits = frame.key_bits();
  const int num_digit_bits = std::min(digit_bits_of(num_usual), num_bits);
  return PositionSort<Real>(exec, particles, {frame, frame}, {0, num_bits}, num_digit_bits).group();
}

/// Each run ascends but for the lowest bits: its first and last keys bound the others.
template <class Real>
KeyRange range_of(const ArrivedPositions<Real>& arrived, const KeyFrame& frame) {
  const bool is_flat = frame.box.dimensions == 2;
  const Real zero = 0;
  const auto key_at = [&](Index i) {
    const Real* const z = is_flat ? &zero : arrived.pos[2].data() + i;
    std::uint64_t key = 0;
    find_keys({arrived.pos[0].data() + i, arrived.pos[1].data() + i, z}, 1, frame, &key);
    return key;
  };
  std::uint64_t lowest = std::numeric_limits<std::uint64_t>::max(), highest = 0;
  const std::vector<Index>& first = arrived.first_of_run;
  for (std::size_t r = 0; r + 1 < first.size(); ++r) {
    if (first[r] == first[r + 1]) continue;
    const int num_low_bits = arrived.num_low_bits;
    const std::uint64_t low_bits = (std::uint64_t{1} << num_low_bits) - 1;
    lowest = std::min(lowest, key_at(first[r]) & ~low_bits);
    highest = std::max(highest, key_at(first[r + 1] - 1) | low_bits);
  }
  if (lowest > highest) return {};
  return {lowest, static_cast<int>(std::bit_width(highest - lowest))};
}

template <class Real>
SortedColumns<Real> sort_runs(const Host& exec, ArrivedPositions<Real> arrived,
                              const KeyFrame& frame) {
  const int dimensions = frame.box.dimensions;
  const SegmentView<Real> segment = segment_of(arrived.num(), dimensions, arrived.pos, 0);
  PositionSort<Real> sort(exec, {{&segment, 1}, segment.num, dimensions},
                          {without_changes(dimensions), frame}, range_of(arrived, frame));
  arrived = {};
  return sort.sort();
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
