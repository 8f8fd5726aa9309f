/// From positions to sorted ones on the host. Positions travel with their keys' order and are never
/// fetched from random places in memory: records of them are partitioned by the highest bits of
/// their keys, and each part is sorted in the cache.
#pragma once

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/host/chunk.hpp"
#include "kernels/host/parallel.hpp"
#include "kernels/host/radix_sort.hpp"
#include "kernels/particles.hpp"
#include "kernels/sort.hpp"

namespace zhalo::kernels {

/// Parts with more records than this are sorted by all threads together.
inline constexpr Index max_part = 1 << 18;
/// Bits by which a part is sorted at first: two digits. Few particles agree in all of them.
inline constexpr int first_bits_of_part = 2 * max_digit_bits;
/// Parts are of about 2^this records.
inline constexpr int part_size_bits = 10;

inline int bits_of(Index number) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(number)));
}

/// Room for the words of one part.
struct PartScratch {
  explicit PartScratch(Index num)
      : words(std::make_unique_for_overwrite<std::uint64_t[]>(static_cast<std::size_t>(num))),
        spare(std::make_unique_for_overwrite<std::uint64_t[]>(static_cast<std::size_t>(num))) {}
  std::unique_ptr<std::uint64_t[]> words, spare;
};

/// What the keys of some particles have in common.
struct KeyRange {
  std::uint64_t lowest = 0;  ///< no key is smaller
  int bits = 0;              ///< of what is above it
};

/// Bits that a first partition of so many records looks at.
inline int digit_bits_of(Index num) {
  return std::clamp(bits_of(num) - part_size_bits, 0, max_digit_bits);
}

/// First records are made and partitioned, which needs the particles. Then they are sorted.
template <class Real>
class PositionSort {
 public:
  /// `loading` says how positions are wrapped and scaled, `keys` how keys follow from that.
  struct Frames {
    const KeyFrame& loading;
    const KeyFrame& keys;
  };

  PositionSort(const Host& exec, const ParticlesView<Real>& particles, const Frames& frames,
               const KeyRange& range)
      : PositionSort(exec, particles, frames, range,
                     std::min(digit_bits_of(particles.num), range.bits)) {}

  PositionSort(const Host& exec, const ParticlesView<Real>& particles, const Frames& frames,
               const KeyRange& range, int num_digit_bits)
      : exec_(exec),
        particles_(particles),
        loading_(frames.loading),
        lowest_key_(range.lowest),
        digit_(KeyBits{0, range.bits}.highest(num_digit_bits)),
        num_rest_bits_(range.bits - num_digit_bits) {
    sorted_.frame = frames.keys;
    partition();
  }

  /// The particles are no longer needed.
  SortedColumns<Real> sort() {
    make_room();
    sort_parts();
    return std::move(sorted_);
  }

  /// No more than the partition. Keys are the lowest of each part.
  SortedColumns<Real> group() {
    make_room();
    run_tasks(exec_, static_cast<Index>(digit_.num_values()), [&](Index part) {
      const Index first = starts_[static_cast<std::size_t>(part)];
      const Index last = starts_[static_cast<std::size_t>(part) + 1];
      const std::uint64_t key = lowest_key_ + (static_cast<std::uint64_t>(part) << num_rest_bits_);
      std::fill(sorted_.keys.data() + first, sorted_.keys.data() + last, key);
      for (Index i = first; i < last; ++i) put(i, records_.span()[i]);
    });
    sorted_.num_low_bits = num_rest_bits_;
    return std::move(sorted_);
  }

 private:
  using Chunk = PositionChunk<Real>;

  void make_room() {
    sorted_.keys = Buffer<std::uint64_t>(exec_, particles_.num, "keys");
    sorted_.order = Buffer<LocalIndex>(exec_, particles_.num, "sorted order");
    for (auto& axis : sorted_.pos) axis = Buffer<Real>(exec_, particles_.num, "sorted positions");
  }

  /// Calls f(first of the chunk, its size, chunk) for the particles [first, last).
  template <class F>
  void for_each_chunk(Index first, Index last, const F& f) const {
    Chunk chunk;
    while (first < last) {
      const ParticleRow<Real> particle = particles_[first];
      const Index num =
          std::min({Chunk::max_num, last - first, particle.segment.num - particle.row});
      load_chunk(particle, num, loading_, chunk);
      f(first, num, chunk);
      first += num;
    }
  }

  /// Puts records into the order of the highest bits of their keys. Each thread takes one block.
  void partition() {
    const Index num = particles_.num;
    const Index num_blocks = std::clamp<Index>(num / host_block, 1, threads_of(exec_));
    const auto first_of = [&](Index block) { return num * block / num_blocks; };
    std::vector<DigitCounts> at(static_cast<std::size_t>(num_blocks));
    Buffer<std::uint16_t> digits(exec_, num, "sorting of positions");
    run_tasks(exec_, num_blocks, [&](Index b) {
      count(first_of(b), first_of(b + 1), digits.data(), at[static_cast<std::size_t>(b)]);
    });
    starts_ = interleave(at, digit_.num_values());
    records_ = Buffer<PositionRecord<Real>>(exec_, num, "sorting of positions");
    run_tasks(exec_, num_blocks, [&](Index b) {
      scatter(first_of(b), first_of(b + 1), digits.data(), at[static_cast<std::size_t>(b)]);
    });
  }

  void count(Index first, Index last, std::uint16_t* digits, DigitCounts& counts) const {
    std::fill_n(counts.begin(), digit_.num_values(), Index{0});
    for_each_chunk(first, last, [&](Index at, Index num, const Chunk& chunk) {
      std::uint64_t keys[Chunk::max_num];
      find_keys({chunk.axis[0], chunk.axis[1], chunk.axis[2]}, num, sorted_.frame, keys);
      for (Index i = 0; i < num; ++i) {
        ZHALO_EXPECT(keys[i] >= lowest_key_);
        const std::size_t digit = digit_.of(keys[i] - lowest_key_);
        digits[at + i] = static_cast<std::uint16_t>(digit);
        ++counts[digit];
      }
    });
  }

  void scatter(Index first, Index last, const std::uint16_t* digits, DigitCounts& indices) {
    PositionRecord<Real>* const records = records_.data();
    for_each_chunk(first, last, [&](Index at, Index num, const Chunk& chunk) {
      for (Index i = 0; i < num; ++i) {
        records[indices[digits[at + i]]++] = {
            {chunk.axis[0][i], chunk.axis[1][i], chunk.axis[2][i]},
            static_cast<LocalIndex>(at + i)};
      }
    });
  }

  bool is_large(Index num) const {
    const Index share = particles_.num / (Index{4} * threads_of(exec_));
    return num > max_part || (num > std::max(share, cache_elements) && threads_of(exec_) > 1);
  }

  /// Each task takes parts that follow each other, so that all have about as much to do.
  void sort_parts() {
    const auto num_parts = static_cast<Index>(digit_.num_values());
    const auto size_of = [&](Index part) {
      return starts_[static_cast<std::size_t>(part) + 1] - starts_[static_cast<std::size_t>(part)];
    };
    const Index per_task = std::max(host_block, particles_.num / (Index{16} * threads_of(exec_)));
    std::vector<Index> tasks{0};
    Index in_task = 0;
    for (Index part = 0; part < num_parts; ++part) {
      if (is_large(size_of(part))) {
        sort_large_part(part);
        continue;
      }
      in_task += size_of(part);
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
        if (!is_large(size_of(part))) max_size = std::max(max_size, size_of(part));
      const PartScratch scratch(max_size);
      for (Index part = first; part < last; ++part)
        if (!is_large(size_of(part))) sort_part_in_cache(part, scratch);
    });
  }

  /// Words hold the highest bits of what is left of the keys, and below them the records' places
  /// in the part.
  void sort_part_in_cache(Index part, const PartScratch& scratch) {
    const Index first = starts_[static_cast<std::size_t>(part)];
    const Index num = starts_[static_cast<std::size_t>(part) + 1] - first;
    const PositionRecord<Real>* records = records_.data() + first;
    const int index_bits = bits_of(num);
    const KeyBits bits =
        KeyBits{0, num_rest_bits_}.highest(std::min(num_rest_bits_, first_bits_of_part));
    for (Index at = 0; at < num; at += Chunk::max_num) {
      const Index size = std::min(Chunk::max_num, num - at);
      std::uint64_t keys[Chunk::max_num];
      keys_of_records(records + at, size, keys);
      for (Index i = 0; i < size; ++i)
        scratch.words[static_cast<std::size_t>(at + i)] =
            std::uint64_t{bits.of(keys[i] - lowest_key_)} << index_bits |
            static_cast<std::uint64_t>(at + i);
    }
    const Words words{scratch.words.get()};
    sort_part(words, {scratch.spare.get()}, num, {index_bits, bits.num}, words);
    const PositionColumns<Real> to = columns_from(first);
    take_records(records, {words.keys, num}, index_bits, to);
    std::uint64_t* const keys = sorted_.keys.data() + first;
    if (bits.low > 0) {
      find_keys({to.pos[0], to.pos[1], to.pos[2]}, num, sorted_.frame, keys);
      finish_runs(first, first + num, bits.low);
    } else {
      const std::uint64_t lowest =
          lowest_key_ + (static_cast<std::uint64_t>(part) << num_rest_bits_);
      for (Index i = 0; i < num; ++i) keys[i] = lowest + (words.keys[i] >> index_bits);
    }
  }

  /// From one particle on.
  PositionColumns<Real> columns_from(Index first) {
    return {{sorted_.pos[0].data() + first, sorted_.pos[1].data() + first,
             sorted_.pos[2].data() + first},
            sorted_.order.data() + first};
  }

  void keys_of_records(const PositionRecord<Real>* records, Index num, std::uint64_t* keys) const {
    Chunk chunk;
    load_records(records, num, chunk);
    find_keys({chunk.axis[0], chunk.axis[1], chunk.axis[2]}, num, sorted_.frame, keys);
  }

  void put(Index to, const PositionRecord<Real>& record) {
    for (std::size_t axis = 0; axis < 3; ++axis) sorted_.pos[axis].data()[to] = record.pos[axis];
    sorted_.order.data()[to] = record.index;
  }

  /// Where keys that agree but for their lowest bits are not in order yet, sorts them.
  void finish_runs(Index first, Index last, int num_low_bits) {
    const std::uint64_t* keys = sorted_.keys.data();
    const auto high_of = [&](Index i) { return (keys[i] - lowest_key_) >> num_low_bits; };
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
    std::vector<std::pair<std::uint64_t, PositionRecord<Real>>> run;
    for (Index i = begin; i < end; ++i)
      run.push_back(
          {sorted_.keys.span()[i],
           {{sorted_.pos[0].span()[i], sorted_.pos[1].span()[i], sorted_.pos[2].span()[i]},
            sorted_.order.span()[i]}});
    std::sort(run.begin(), run.end(), [](const auto& a, const auto& b) {
      return a.first < b.first || (a.first == b.first && a.second.index < b.second.index);
    });
    for (const auto& [key, record] : run) {
      sorted_.keys.data()[begin] = key;
      put(begin++, record);
    }
  }

  /// By all threads: pairs of keys and places first, then the records.
  void sort_large_part(Index part) {
    const Index first = starts_[static_cast<std::size_t>(part)];
    const Index num = starts_[static_cast<std::size_t>(part) + 1] - first;
    const PositionRecord<Real>* records = records_.data() + first;
    const Span<std::uint64_t> keys = sorted_.keys.span().subspan(first, num);
    Buffer<LocalIndex> indices(exec_, num, "sorting of keys");
    for_each_block(exec_, num, Chunk::max_num, [&](Index begin, Index end) {
      keys_of_records(records + begin, end - begin, keys.data() + begin);
      for (Index i = begin; i < end; ++i) {
        keys.data()[i] -= lowest_key_;
        indices.data()[i] = static_cast<LocalIndex>(i);
      }
    });
    {
      Buffer<std::uint64_t> spare_keys(exec_, num, "sorting of keys");
      Buffer<LocalIndex> spare_indices(exec_, num, "sorting of keys");
      sort_pairs(exec_, {keys, indices.span(), spare_keys.span(), spare_indices.span()},
                 num_rest_bits_);
    }
    for_each_block(exec_, num, host_block, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        keys.data()[i] += lowest_key_;
        prefetch_line(&records[indices.span()[std::min(i + prefetch_distance, num - 1)]]);
        put(first + i, records[indices.span()[i]]);
      }
    });
  }

  Host exec_;
  ParticlesView<Real> particles_;
  KeyFrame loading_;
  std::uint64_t lowest_key_;
  KeyBits digit_;
  int num_rest_bits_;
  std::vector<Index> starts_;  ///< of each part
  Buffer<PositionRecord<Real>> records_;
  SortedColumns<Real> sorted_;
};

}  // namespace zhalo::kernels
