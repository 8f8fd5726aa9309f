/// Particles in parts by the highest bits of their keys: from the caller's positions, or from those
/// that came from other ranks. Each part is sorted on its own (position_sort.hpp).
#pragma once

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>
#include <vector>

#include "kernels/common/arithmetic.hpp"
#include "kernels/host/parallel.hpp"
#include "kernels/host/positions.hpp"
#include "kernels/host/radix_sort.hpp"
#include "kernels/particles.hpp"

namespace zhalo::kernels {

/// Parts are of about 2^this records.
inline constexpr int part_size_bits = 10;

inline int bits_of(Index number) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(number)));
}

/// What the keys of some particles have in common.
struct KeyRange {
  std::uint64_t lowest = 0;  ///< no key is smaller
  int bits = 0;              ///< of what is above it
};

/// Bits that a first partition of so many records looks at.
inline int digit_bits_of(Index num) {
  return std::clamp(bits_of(num) - part_size_bits, 0, max_digit_bits);
}

/// Which keys belong to which part.
class PartKeys {
 public:
  PartKeys(const KeyRange& range, int num_digit_bits)
      : lowest_(range.lowest),
        digit_(KeyBits{0, range.bits}.highest(num_digit_bits)),
        num_rest_bits_(range.bits - num_digit_bits) {}

  Index num_parts() const { return static_cast<Index>(digit_.num_values()); }
  std::size_t part_of(std::uint64_t key) const { return digit_.of(key - lowest_); }
  std::uint64_t lowest() const { return lowest_; }
  std::uint64_t lowest_of(Index part) const {
    return lowest_ + (static_cast<std::uint64_t>(part) << num_rest_bits_);
  }
  /// Bits in which the keys of a part differ.
  int num_rest_bits() const { return num_rest_bits_; }

 private:
  std::uint64_t lowest_;
  KeyBits digit_;
  int num_rest_bits_;
};

/// Where each part begins among all particles, and where the last one ends.
struct PartStarts {
  std::vector<Index> of;

  Index first(Index part) const { return of[static_cast<std::size_t>(part)]; }
  Index size(Index part) const { return first(part + 1) - first(part); }
  Index num_particles() const { return of.back(); }
  Index num_parts() const { return static_cast<Index>(of.size()) - 1; }
};

/// Records of all particles, part by part.
template <class Real>
struct RecordParts {
  static constexpr bool must_gather = false;

  PartStarts starts;
  Buffer<PositionRecord<Real>> records;

  const PositionRecord<Real>* data(Index part) const { return records.data() + starts.first(part); }
};

/// Makes records of the caller's particles and puts them into the order of their parts.
template <class Real>
class PositionPartition {
 public:
  /// `loading` says how positions are wrapped and scaled, `keys` how keys follow from that.
  struct Frames {
    const KeyFrame& loading;
    const KeyFrame& keys;
  };

  PositionPartition(const Host& exec, const ParticlesView<Real>& particles, const Frames& frames,
                    const PartKeys& keys)
      : exec_(exec), particles_(particles), frames_(frames), keys_(keys) {}

  RecordParts<Real> run() {
    const Index num = particles_.num;
    const OrderedParts blocks(exec_, num);
    std::vector<DigitCounts> at(static_cast<std::size_t>(blocks.num()));
    Buffer<std::uint16_t> digits(exec_, num, "sorting of positions");
    run_tasks(exec_, blocks.num(), [&](Index b) {
      count(blocks.first(b), blocks.end(b), digits.data(), at[static_cast<std::size_t>(b)]);
    });
    RecordParts<Real> parts;
    parts.starts.of = interleave(at, static_cast<std::size_t>(keys_.num_parts()));
    parts.records = Buffer<PositionRecord<Real>>(exec_, num, "sorting of positions");
    run_tasks(exec_, blocks.num(), [&](Index b) {
      scatter(blocks.first(b), blocks.end(b), digits.data(), parts.records.data(),
              at[static_cast<std::size_t>(b)]);
    });
    return parts;
  }

 private:
  using Chunk = PositionChunk<Real>;

  /// Calls f(first of the chunk, its size, chunk) for the particles [first, last). A chunk has
  /// particles of several segments where these are short.
  template <class F>
  void for_each_chunk(Index first, Index last, const F& f) const {
    Chunk chunk;
    Index num = 0;
    const auto pass_on = [&](Index end) {
      wrap_and_scale(frames_.loading, num, chunk);
      f(end - num, num, chunk);
      num = 0;
    };
    const auto load = [&](Index index, const ParticleRow<Real>& row, Index num_of_run) {
      for (Index done = 0; done < num_of_run;) {
        const Index more = std::min(num_of_run - done, Chunk::max_num - num);
        load_coordinates({row.segment, row.row + done}, {num, more}, chunk);
        num += more;
        done += more;
        if (num == Chunk::max_num) pass_on(index + done);
      }
    };
    for_each_run(particles_, first, last, last - first, load);
    if (num > 0) pass_on(last);
  }

  void count(Index first, Index last, std::uint16_t* digits, DigitCounts& counts) const {
    std::fill_n(counts.begin(), keys_.num_parts(), Index{0});
    for_each_chunk(first, last, [&](Index at, Index num, const Chunk& chunk) {
      std::uint64_t keys[Chunk::max_num];
      find_keys({chunk.axis[0], chunk.axis[1], chunk.axis[2]}, num, frames_.keys, keys);
      for (Index i = 0; i < num; ++i) {
        ZHALO_EXPECT(keys[i] >= keys_.lowest());
        const std::size_t digit = keys_.part_of(keys[i]);
        digits[at + i] = static_cast<std::uint16_t>(digit);
        ++counts[digit];
      }
    });
  }

  /// A processor follows fewer streams by itself than there are parts. So the next line of a part
  /// is asked for before it is written.
  void scatter(Index first, Index last, const std::uint16_t* digits, PositionRecord<Real>* records,
               DigitCounts& indices) const {
    constexpr Index records_ahead = 64 / Index{sizeof(PositionRecord<Real>)};
    for_each_chunk(first, last, [&](Index at, Index num, const Chunk& chunk) {
      for (Index i = 0; i < num; ++i) {
        PositionRecord<Real>* const to = records + indices[digits[at + i]]++;
        prefetch_line(to + records_ahead);
        *to = {{chunk.axis[0][i], chunk.axis[1][i], chunk.axis[2][i]},
               static_cast<LocalIndex>(at + i)};
      }
    });
  }

  const Host& exec_;
  const ParticlesView<Real>& particles_;
  Frames frames_;
  PartKeys keys_;
};

// Parts of what came from other ranks. Each run is in the order of the parts as it came, so that a
// part is a slice of each run: nothing is partitioned again.

template <class Real>
std::uint64_t key_of_arrived(const ArrivedPositions<Real>& arrived, Index i,
                             const KeyFrame& frame) {
  const Real* const pos = arrived.records.data()[i].pos;
  std::uint64_t key = 0;
  find_keys({pos, pos + 1, pos + 2}, 1, frame, &key);
  return key;
}

/// Each run ascends but for the lowest bits: its first and last keys bound the others.
template <class Real>
KeyRange range_of(const ArrivedPositions<Real>& arrived, const KeyFrame& frame) {
  const std::uint64_t low_bits = (std::uint64_t{1} << arrived.num_low_bits) - 1;
  std::uint64_t lowest = std::numeric_limits<std::uint64_t>::max(), highest = 0;
  const std::vector<Index>& first = arrived.first_of_run;
  for (std::size_t r = 0; r + 1 < first.size(); ++r) {
    if (first[r] == first[r + 1]) continue;
    lowest = std::min(lowest, key_of_arrived(arrived, first[r], frame) & ~low_bits);
    highest = std::max(highest, key_of_arrived(arrived, first[r + 1] - 1, frame) | low_bits);
  }
  if (lowest > highest) return {};
  return {lowest, static_cast<int>(std::bit_width(highest - lowest))};
}

/// Tables of where the records of a part come from, by their indices in it.
struct PartOrigins {
  std::uint64_t* arrival;
  std::uint64_t* global_index;
};

template <class Real>
class ArrivedParts {
 public:
  static constexpr bool must_gather = true;

  /// Whether parts are small enough to be sorted in the cache, though not smaller than the bits by
  /// which runs ascend allow, and slices are long enough.
  static bool suit(const ArrivedPositions<Real>& arrived, const PartKeys& keys) {
    constexpr Index max_usual_part = Index{1} << 16, min_usual_slice = 16;
    return keys.num_rest_bits() >= arrived.num_low_bits &&
           arrived.num() <= keys.num_parts() * max_usual_part &&
           arrived.num() >= keys.num_parts() * num_runs(arrived) * min_usual_slice;
  }

  /// How the parts are cut, and where the global indices of the sorted particles go.
  struct Target {
    PartKeys keys;
    Span<Index> global_index;
  };

  ArrivedParts(const Host& exec, ArrivedPositions<Real> arrived, const KeyFrame& frame,
               const Target& to)
      : arrived_(std::move(arrived)),
        num_parts_(to.keys.num_parts()),
        global_index_(to.global_index) {
    slices_.resize(static_cast<std::size_t>(num_runs(arrived_) * (num_parts_ + 1)));
    run_tasks(exec, num_runs(arrived_), [&](Index run) { cut(run, frame, to.keys); });
    starts.of.resize(static_cast<std::size_t>(num_parts_) + 1);
    for (Index part = 0; part < num_parts_; ++part) {
      Index size = 0;
      for (Index run = 0; run < num_runs(arrived_); ++run)
        size += slice(run, part + 1) - slice(run, part);
      starts.of[static_cast<std::size_t>(part) + 1] = starts.first(part) + size;
    }
  }

  /// Writes the records [first, last) of a part, which are in the order of arrival; instead of
  /// their indices, those in the part.
  void gather(Index part, Index first, Index last, PositionRecord<Real>* to) const {
    for_each_slice(part, [&](const Slice& slice) {
      const Index end = std::min(last, slice.in_part + slice.num);
      for (Index at = std::max(first, slice.in_part); at < end; ++at) {
        *to = arrived_.records.data()[slice.from + at - slice.in_part];
        (to++)->index = static_cast<LocalIndex>(at);
      }
    });
  }

  /// After a part is sorted. The order is of indices in the part, and becomes that of arrival. The
  /// tables have room for each of them.
  void look_up(Index part, Span<LocalIndex> order, const PartOrigins& tables) const {
    for_each_slice(part, [&](const Slice& slice) {
      const Index first = arrived_.sources.first[slice.run];
      for (Index i = 0; i < slice.num; ++i) {
        const LocalIndex index = arrived_.records.data()[slice.from + i].index;
        tables.arrival[slice.in_part + i] = static_cast<std::uint64_t>(slice.from + i);
        tables.global_index[slice.in_part + i] = static_cast<std::uint64_t>(first + index);
      }
    });
    for (Index i = 0; i < order.size(); ++i) {
      const LocalIndex in_part = order[i];
      global_index_[starts.first(part) + i] = static_cast<Index>(tables.global_index[in_part]);
      order[i] = static_cast<LocalIndex>(tables.arrival[in_part]);
    }
  }

  PartStarts starts;

 private:
  static Index num_runs(const ArrivedPositions<Real>& arrived) {
    return static_cast<Index>(arrived.first_of_run.size()) - 1;
  }
  Index slice(Index run, Index part) const {
    return slices_[static_cast<std::size_t>(run * (num_parts_ + 1) + part)];
  }

  /// What a part has of a run.
  struct Slice {
    Index run;
    Index from;     ///< its first record, of all that arrived
    Index in_part;  ///< index of that record in the part
    Index num;
  };

  template <class F>
  void for_each_slice(Index part, const F& f) const {
    Index in_part = 0;
    for (Index run = 0; run < num_runs(arrived_); ++run) {
      const Index from = slice(run, part), num = slice(run, part + 1) - from;
      f(Slice{run, from, in_part, num});
      in_part += num;
    }
  }

  /// Finds where the parts of a run begin.
  void cut(Index run, const KeyFrame& frame, const PartKeys& keys) {
    const Index end = arrived_.first_of_run[static_cast<std::size_t>(run) + 1];
    Index begin = arrived_.first_of_run[static_cast<std::size_t>(run)];
    Index* const slices = slices_.data() + run * (num_parts_ + 1);
    for (Index part = 0; part < num_parts_; ++part) {
      slices[part] = begin = first_from(begin, end, [&](Index i) {
        return keys.part_of(key_of_arrived(arrived_, i, frame)) >= static_cast<std::size_t>(part);
      });
    }
    slices[num_parts_] = end;
  }

  /// The first in [begin, end) for which `is_behind`, which is so for all after it; else `end`.
  /// Often near to begin.
  template <class Predicate>
  static Index first_from(Index begin, Index end, const Predicate& is_behind) {
    Index step = 1;
    while (begin < end) {
      const Index at = std::min(begin + step, end) - 1;
      if (is_behind(at)) {
        end = at;
        break;
      }
      begin = at + 1;
      step *= 2;
    }
    return begin + first_index_where(end - begin, [&](Index i) { return is_behind(begin + i); });
  }

  ArrivedPositions<Real> arrived_;
  Index num_parts_;
  Span<Index> global_index_;
  std::vector<Index> slices_;  ///< of each run, where each part begins, and where the last one ends
};

}  // namespace zhalo::kernels
