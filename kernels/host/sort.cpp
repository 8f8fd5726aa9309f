// Sorting on the host, of keys and of positions. The highest digit of keys is partitioned over all
// threads, each part is then sorted by one of them.
#define ZHALO_BACKEND Host

#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/host/parallel.hpp"
#include "kernels/host/radix_sort.hpp"
// The loops come first: the texts of kernels/common are written in terms of them.
#include "kernels/common/sort/sorted.hpp"
#include "kernels/host/position_sort.hpp"

namespace zhalo::kernels {
namespace {

/// First pass over all threads, part by part; the parts' offsets are interleaved so that the sort
/// is stable.
template <class Elements>
std::vector<Index> partition_parallel(const Host& exec, const Elements& from, const Elements& to,
                                      Index num, KeyBits digit) {
  const OrderedParts parts(exec, num);
  std::vector<DigitCounts> at(static_cast<std::size_t>(parts.num()));
  run_tasks(exec, parts.num(), [&](Index p) {
    count_digits(from.at(parts.first(p)), parts.end(p) - parts.first(p), digit,
                 at[static_cast<std::size_t>(p)]);
  });
  std::vector<Index> starts = interleave(at, digit.num_values());
  run_tasks(exec, parts.num(), [&](Index p) {
    scatter_digits(from.at(parts.first(p)), to, parts.end(p) - parts.first(p), digit,
                   at[static_cast<std::size_t>(p)]);
  });
  return starts;
}

/// Sorts `elements`, with room for as many in `spare`.
template <class Elements>
void sort_elements(const Host& exec, const Elements& elements, const Elements& spare, Index num,
                   KeyBits all) {
  if (num <= cache_elements || all.num == 0) return sort_part(elements, spare, num, all, elements);
  const int digit_bits = std::min(max_digit_bits, all.num);
  const KeyBits digit = all.highest(digit_bits);
  const std::vector<Index> starts = partition_parallel(exec, elements, spare, num, digit);
  run_tasks(exec, static_cast<Index>(digit.num_values()), [&](Index d) {
    const Index first = starts[static_cast<std::size_t>(d)];
    const Index count = starts[static_cast<std::size_t>(d) + 1] - first;
    sort_part(spare.at(first), elements.at(first), count, all.without_highest(digit_bits),
              elements.at(first));
  });
}

/// A key and its value in one word take less time to move.
void sort_packed(const Host& exec, const SortPairs& arrays, int bits) {
  const Index num = arrays.keys.size();
  const std::uint64_t higher_bits = arrays.keys[0] >> bits << bits;
  for_each_block(exec, num, host_block, [&](Index first, Index last) {
    for (Index i = first; i < last; ++i)
      arrays.keys[i] = (arrays.keys[i] ^ higher_bits) << 32 | arrays.values[i];
  });
  sort_elements(exec, PackedPairs{arrays.keys.data()}, PackedPairs{arrays.spare_keys.data()}, num,
                {0, bits});
  for_each_block(exec, num, host_block, [&](Index first, Index last) {
    for (Index i = first; i < last; ++i) {
      arrays.values[i] = static_cast<LocalIndex>(arrays.keys[i]);
      arrays.keys[i] = arrays.keys[i] >> 32 | higher_bits;
    }
  });
}

}  // namespace

void sort_pairs(const Host& exec, const SortPairs& arrays, int bits) {
  const Index num = arrays.keys.size();
  if (num > 0 && bits <= 32) return sort_packed(exec, arrays, bits);
  const KeyValues pairs{arrays.keys.data(), arrays.values.data()};
  const KeyValues spare{arrays.spare_keys.data(), arrays.spare_values.data()};
  sort_elements(exec, pairs, spare, num, {0, bits});
}

// From the caller's positions, or those of other ranks, to sorted ones.

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

/// Of coordinates that are wrapped and scaled already.
template <class Real>
SegmentView<Real> segment_of(const PositionRecord<Real>* records, Index num, int dimensions) {
  SegmentView<Real> segment;
  segment.num = num;
  for (int axis = 0; axis < dimensions && num > 0; ++axis)
    segment.pos[axis] = {records->pos + axis, sizeof(PositionRecord<Real>)};
  return segment;
}

KeyFrame without_changes(int dimensions) {
  KeyFrame frame;
  frame.box.dimensions = dimensions;
  return frame;
}

/// Records whose keys agree in the bits that count.
struct Group {
  Index first;
  Index num;
};

/// By all bits. Writes the keys.
template <class Real>
void sort_group(const Host& exec, const Group& group, std::uint64_t lowest_key,
                DepartingPositions<Real>& departing, std::uint64_t* keys) {
  const int dimensions = departing.frame.box.dimensions;
  PositionRecord<Real>* const records = departing.records.data() + group.first;
  const SegmentView<Real> segment = segment_of(records, group.num, dimensions);
  SortedColumns<Real> sorted = sort_partitioned<Real>(
      exec, {{&segment, 1}, group.num, dimensions}, {without_changes(dimensions), departing.frame},
      usual_parts(group.num, {lowest_key, departing.num_low_bits}));
  for (Index i = 0; i < group.num; ++i)
    sorted.order.data()[i] = records[sorted.order.span()[i]].index;
  for (Index i = 0; i < group.num; ++i) records[i] = record_at(sorted, i);
  std::copy_n(sorted.keys.data(), group.num, keys);
}

/// The keys of groups, ascending, each once.
std::vector<std::uint64_t> groups_of(const std::vector<std::uint64_t>& keys, int num_low_bits) {
  std::vector<std::uint64_t> groups;
  groups.reserve(keys.size());
  for (const std::uint64_t key : keys) groups.push_back(key >> num_low_bits << num_low_bits);
  std::sort(groups.begin(), groups.end());
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  return groups;
}

/// Of sorted particles, whose order is that of arrival; `index` is of what arrived.
void find_global_indices(const Host& exec, const SourcesView& sources, Span<const LocalIndex> index,
                         Span<const LocalIndex> order, Span<Index> global) {
  for_each_block(exec, order.size(), host_block, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      prefetch_line(&index[order[std::min(i + prefetch_distance, order.size() - 1)]]);
      global[i] = sources.global(order[i], index[order[i]]);
    }
  });
}

/// In parts as they came, or, where these would be too large or too many, partitioned anew.
template <class Real>
SortedColumns<Real> sort_runs(const Host& exec, ArrivedPositions<Real> arrived,
                              const KeyFrame& frame, Span<Index> global_index) {
  const int dimensions = frame.box.dimensions;
  const KeyRange range = range_of(arrived, frame);
  const int num_common_bits = std::max(0, range.bits - arrived.num_low_bits);
  const PartKeys as_they_came(range, std::min(digit_bits_of(arrived.num()), num_common_bits));
  if (ArrivedParts<Real>::suit(arrived, as_they_came)) {
    ArrivedParts<Real> parts(exec, std::move(arrived), frame, {as_they_came, global_index});
    return PositionSort<Real, ArrivedParts<Real>>(exec, frame, as_they_came, std::move(parts))
        .run();
  }
  const Span<const PositionRecord<Real>> records = arrived.records.span();
  const PartKeys keys = usual_parts(records.size(), range);
  const SegmentView<Real> segment = segment_of(records.data(), records.size(), dimensions);
  RecordParts<Real> parts = PositionPartition<Real>(exec, {{&segment, 1}, segment.num, dimensions},
                                                    {without_changes(dimensions), frame}, keys)
                                .run();
  Buffer<LocalIndex> index(exec, records.size(), "indices received");
  take_indices(exec, records, index.span());
  arrived.records = {};
  SortedColumns<Real> sorted =
      PositionSort<Real, RecordParts<Real>>(exec, frame, keys, std::move(parts)).run();
  find_global_indices(exec, arrived.sources, index.span(), sorted.order.span(), global_index);
  return sorted;
}

}  // namespace

template <class E, class Real>
SortedColumns<Real> sort_positions(const E& exec, const ParticlesView<Real>& particles,
                                   const KeyFrame& frame) {
  return sort_partitioned<Real>(exec, particles, {frame, frame},
                                usual_parts(particles.num, {0, frame.key_bits()}));
}

/// No more than a partition: each part that is not empty has a key.
template <class E, class Real>
DepartingPositions<Real> sort_coarsely(const E& exec, const ParticlesView<Real>& particles,
                                       const KeyFrame& frame, Index num_usual) {
  const PartKeys keys = usual_parts(num_usual, {0, frame.key_bits()});
  RecordParts<Real> parts = PositionPartition<Real>(exec, particles, {frame, frame}, keys).run();
  DepartingPositions<Real> departing;
  departing.frame = frame;
  departing.num_low_bits = keys.num_rest_bits();
  departing.records = std::move(parts.records);
  Index num = 0;
  for (Index part = 0; part < keys.num_parts(); ++part) num += parts.starts.size(part) > 0 ? 1 : 0;
  departing.keys = Buffer<std::uint64_t>(exec, num, "keys");
  departing.num_before = Buffer<Index>(exec, num + 1, "numbers of particles");
  Index to = 0;
  for (Index part = 0; part < keys.num_parts(); ++part) {
    if (parts.starts.size(part) == 0) continue;
    departing.keys.data()[to] = keys.lowest_of(part);
    departing.num_before.data()[to++] = parts.starts.first(part);
  }
  departing.num_before.data()[to] = particles.num;
  return departing;
}

template <class E, class Real>
void sort_around(const E& exec, const std::vector<std::uint64_t>& keys,
                 DepartingPositions<Real>& departing) {
  const std::vector<std::uint64_t> groups = groups_of(keys, departing.num_low_bits);
  const Span<const std::uint64_t> known = departing.keys.span();
  const Span<const Index> before = departing.num_before.span();
  const auto is_cut = [&](Index i) {
    return std::binary_search(groups.begin(), groups.end(), known[i]);
  };
  Index num = 0;
  for (Index i = 0; i < known.size(); ++i) num += is_cut(i) ? before[i + 1] - before[i] : 1;
  Buffer<std::uint64_t> finer(exec, num, "keys");
  Buffer<Index> num_before(exec, num + 1, "numbers of particles");
  Index to = 0;
  for (Index i = 0; i < known.size(); ++i) {
    const Group group{before[i], before[i + 1] - before[i]};
    if (!is_cut(i)) {
      finer.data()[to] = known[i];
      num_before.data()[to++] = group.first;
      continue;
    }
    sort_group(exec, group, known[i], departing, finer.data() + to);
    for (Index k = 0; k < group.num; ++k) num_before.data()[to++] = group.first + k;
  }
  num_before.data()[to] = before[known.size()];
  departing.keys = std::move(finer);
  departing.num_before = std::move(num_before);
}

template <class E, class Real>
SortedColumns<Real> sort_arrived(const E& exec, ArrivedPositions<Real> arrived,
                                 const KeyFrame& frame, Span<Index> global_index) {
  return sort_runs(exec, std::move(arrived), frame, global_index);
}

ZHALO_INSTANTIATE_REALS(sort_positions);
ZHALO_INSTANTIATE_REALS(sort_coarsely);
ZHALO_INSTANTIATE_REALS(sort_around);
ZHALO_INSTANTIATE_REALS(sort_arrived);

}  // namespace zhalo::kernels
