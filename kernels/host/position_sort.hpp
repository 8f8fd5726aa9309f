/// From positions to sorted ones on the host. Positions travel with their keys' order and are never
/// fetched from random addresses in memory: records of them lie in parts by the highest bits of
/// their keys, and each part is sorted in the cache.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/host/position_parts.hpp"
#include "kernels/sort.hpp"

namespace zhalo::kernels {

/// Parts with more records than this are sorted by all threads together.
inline constexpr Index max_part = 1 << 18;
/// Bits by which a part is sorted at first: two digits. Few particles agree in all of them.
inline constexpr int first_bits_of_part = 2 * max_digit_bits;

template <class T>
std::unique_ptr<T[]> uninitialised(Index num) {
  return std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(num));
}

/// Room for the words of one part, and for its records where these are still to be gathered.
template <class Real>
struct PartScratch {
  PartScratch(Index num, bool gathers)
      : words(uninitialised<std::uint64_t>(num)),
        spare(uninitialised<std::uint64_t>(num)),
        records(uninitialised<PositionRecord<Real>>(gathers ? num : 0)) {}
  std::unique_ptr<std::uint64_t[]> words, spare;
  std::unique_ptr<PositionRecord<Real>[]> records;
};

template <class Real>
SortedColumns<Real> make_columns(const Host& exec, const KeyFrame& frame, Index num) {
  SortedColumns<Real> sorted;
  sorted.frame = frame;
  sorted.keys = Buffer<std::uint64_t>(exec, num, "keys");
  sorted.order = Buffer<LocalIndex>(exec, num, "sorted order");
  for (auto& axis : sorted.pos) axis = Buffer<Real>(exec, num, "sorted positions");
  return sorted;
}

template <class Real>
void put_record(const PositionRecord<Real>& record, Index to, SortedColumns<Real>& sorted) {
  for (std::size_t axis = 0; axis < 3; ++axis) sorted.pos[axis].data()[to] = record.pos[axis];
  sorted.order.data()[to] = record.index;
}

template <class Real>
PositionRecord<Real> record_at(const SortedColumns<Real>& sorted, Index i) {
  return {{sorted.pos[0].span()[i], sorted.pos[1].span()[i], sorted.pos[2].span()[i]},
          sorted.order.span()[i]};
}

/// Sorts the particles of each part. Parts is RecordParts or ArrivedParts.
template <class Real, class Parts>
class PositionSort {
 public:
  PositionSort(const Host& exec, const KeyFrame& frame, const PartKeys& keys, Parts parts)
      : exec_(exec),
        part_keys_(keys),
        parts_(std::move(parts)),
        sorted_(make_columns<Real>(exec, frame, starts().num_particles())) {}

  SortedColumns<Real> run() {
    sort_parts();
    return std::move(sorted_);
  }

 private:
  using Chunk = PositionChunk<Real>;
  using Record = PositionRecord<Real>;

  const PartStarts& starts() const { return parts_.starts; }

  bool is_large(Index num) const {
    const Index share = starts().num_particles() / (Index{4} * threads_of(exec_));
    return num > max_part || (num > std::max(share, cache_elements) && threads_of(exec_) > 1);
  }

  /// Each task takes parts that follow each other, so that all have about as much to do.
  void sort_parts() {
    const Index num_parts = starts().num_parts();
    const Index per_task =
        std::max(host_block, starts().num_particles() / (Index{16} * threads_of(exec_)));
    std::vector<Index> tasks{0};
    Index in_task = 0;
    for (Index part = 0; part < num_parts; ++part) {
      if (is_large(starts().size(part))) {
        sort_large_part(part);
        continue;
      }
      in_task += starts().size(part);
      if (in_task < per_task) continue;
      tasks.push_back(part + 1);
      in_task = 0;
    }
    tasks.push_back(num_parts);
    run_tasks(exec_, static_cast<Index>(tasks.size()) - 1, [&](Index task) {
      const Index first = tasks[static_cast<std::size_t>(task)];
      const Index last = tasks[static_cast<std::size_t>(task) + 1];
      Index max_size = 0;
      for (Index part = first; part < last; ++part)
        if (!is_large(starts().size(part))) max_size = std::max(max_size, starts().size(part));
      const PartScratch<Real> scratch(max_size, Parts::must_gather);
      for (Index part = first; part < last; ++part) {
        if (is_large(starts().size(part))) continue;
        sort_part_in_cache(part, scratch);
        look_up_origins(part, {scratch.words.get(), scratch.spare.get()});
      }
    });
  }

  /// After a part is sorted.
  void look_up_origins(Index part, const PartOrigins& tables) {
    if constexpr (Parts::must_gather) {
      const Index first = starts().first(part), num = starts().size(part);
      parts_.look_up(part, sorted_.order.span().subspan(first, num), tables);
    }
  }

  /// Words hold the highest bits of what is left of the keys, and below them the records' indices
  /// in the part.
  void sort_part_in_cache(Index part, const PartScratch<Real>& scratch) {
    const Index first = starts().first(part), num = starts().size(part);
    const Record* const records = records_of(part, scratch.records.get());
    const int index_bits = bits_of(num), num_rest_bits = part_keys_.num_rest_bits();
    const KeyBits bits =
        KeyBits{0, num_rest_bits}.highest(std::min(num_rest_bits, first_bits_of_part));
    for (Index at = 0; at < num; at += Chunk::max_num) {
      const Index size = std::min(Chunk::max_num, num - at);
      std::uint64_t keys[Chunk::max_num];
      keys_of_records(records + at, size, keys);
      for (Index i = 0; i < size; ++i)
        scratch.words[static_cast<std::size_t>(at + i)] =
            std::uint64_t{bits.of(keys[i] - part_keys_.lowest())} << index_bits |
            static_cast<std::uint64_t>(at + i);
    }
    const KeyArray words{scratch.words.get()};
    sort_part(words, {scratch.spare.get()}, num, {index_bits, bits.num}, words);
    const PositionColumns<Real> to = columns_from(first);
    take_records(records, {words.keys, num}, index_bits, to);
    std::uint64_t* const keys = sorted_.keys.data() + first;
    if (bits.low > 0) {
      find_keys({to.pos[0], to.pos[1], to.pos[2]}, num, sorted_.frame, keys);
      finish_runs(first, first + num, bits.low);
    } else {
      const std::uint64_t lowest = part_keys_.lowest_of(part);
      for (Index i = 0; i < num; ++i) keys[i] = lowest + (words.keys[i] >> index_bits);
    }
  }

  /// From one particle on.
  PositionColumns<Real> columns_from(Index first) {
    return {{sorted_.pos[0].data() + first, sorted_.pos[1].data() + first,
             sorted_.pos[2].data() + first},
            sorted_.order.data() + first};
  }

  /// Records of a part, gathered into the room if they do not lie together yet.
  const Record* records_of(Index part, Record* room) const {
    if constexpr (Parts::must_gather) {
      parts_.gather(part, 0, starts().size(part), room);
      return room;
    } else {
      return parts_.data(part);
    }
  }

  void keys_of_records(const Record* records, Index num, std::uint64_t* keys) const {
    Chunk chunk;
    load_records(records, num, chunk);
    find_keys({chunk.axis[0], chunk.axis[1], chunk.axis[2]}, num, sorted_.frame, keys);
  }

  /// Where keys that agree but for their lowest bits are not in order yet, sorts them.
  void finish_runs(Index first, Index last, int num_low_bits) {
    const std::uint64_t* keys = sorted_.keys.data();
    const auto high_of = [&](Index i) { return (keys[i] - part_keys_.lowest()) >> num_low_bits; };
    for (Index i = first + 1; i < last; ++i) {
      if (keys[i - 1] <= keys[i]) continue;
      const std::uint64_t high = high_of(i);
      Index begin = i, end = i;
      while (begin > first && high_of(begin - 1) == high) --begin;
      while (end < last && high_of(end) == high) ++end;
      sort_run(begin, end);
      i = end;
    }
  }

  void sort_run(Index begin, Index end) {
    std::vector<std::pair<std::uint64_t, Record>> run;
    for (Index i = begin; i < end; ++i)
      run.push_back({sorted_.keys.span()[i], record_at(sorted_, i)});
    std::sort(run.begin(), run.end(), [](const auto& a, const auto& b) {
      return a.first < b.first || (a.first == b.first && a.second.index < b.second.index);
    });
    for (const auto& [key, record] : run) {
      sorted_.keys.data()[begin] = key;
      put_record(record, begin++, sorted_);
    }
  }

  /// By all threads: pairs of keys and indices first, then the records.
  void sort_large_part(Index part) {
    const Index first = starts().first(part), num = starts().size(part);
    Buffer<Record> gathered(exec_, Parts::must_gather ? num : 0, "sorting of positions");
    const Record* const records = records_by_all_threads(part, gathered);
    const Span<std::uint64_t> keys = sorted_.keys.span().subspan(first, num);
    Buffer<LocalIndex> indices(exec_, num, "sorting of keys");
    for_each_block(exec_, num, Chunk::max_num, [&](Index begin, Index end) {
      keys_of_records(records + begin, end - begin, keys.data() + begin);
      for (Index i = begin; i < end; ++i) {
        keys.data()[i] -= part_keys_.lowest();
        indices.data()[i] = static_cast<LocalIndex>(i);
      }
    });
    {
      Buffer<std::uint64_t> spare_keys(exec_, num, "sorting of keys");
      Buffer<LocalIndex> spare_indices(exec_, num, "sorting of keys");
      sort_pairs(exec_, {keys, indices.span(), spare_keys.span(), spare_indices.span()},
                 part_keys_.num_rest_bits());
    }
    for_each_block(exec_, num, host_block, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        keys.data()[i] += part_keys_.lowest();
        prefetch_line(&records[indices.span()[std::min(i + prefetch_distance, num - 1)]]);
        put_record(records[indices.span()[i]], first + i, sorted_);
      }
    });
    const Index num_looked_up = Parts::must_gather ? num : 0;
    Buffer<std::uint64_t> arrival(exec_, num_looked_up, "sorting of positions");
    Buffer<std::uint64_t> global_index(exec_, num_looked_up, "sorting of positions");
    look_up_origins(part, {arrival.data(), global_index.data()});
  }

  const Record* records_by_all_threads(Index part, Buffer<Record>& room) const {
    if constexpr (Parts::must_gather) {
      for_each_block(exec_, room.size(), host_block, [&](Index begin, Index end) {
        parts_.gather(part, begin, end, room.data() + begin);
      });
      return room.data();
    } else {
      return parts_.data(part);
    }
  }

  Host exec_;
  PartKeys part_keys_;
  Parts parts_;
  SortedColumns<Real> sorted_;
};

}  // namespace zhalo::kernels
