/// Particles in parts by the highest bits of their keys: from the caller's positions, or from those
/// that came from other ranks. Each part is sorted on its own (position_sort.hpp).
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "kernels/host/chunk.hpp"
#include "kernels/host/parallel.hpp"
#include "kernels/host/radix_sort.hpp"
#include "kernels/host/segment_runs.hpp"
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

  /// Each thread takes one block.
  RecordParts<Real> run() {
    const Index num = particles_.num;
    const Index num_blocks = std::clamp<Index>(num / host_block, 1, threads_of(exec_));
    const auto first_of = [&](Index block) { return num * block / num_blocks; };
    std::vector<DigitCounts> at(static_cast<std::size_t>(num_blocks));
    Buffer<std::uint16_t> digits(exec_, num, "sorting of positions");
    run_tasks(exec_, num_blocks, [&](Index b) {
      count(first_of(b), first_of(b + 1), digits.data(), at[static_cast<std::size_t>(b)]);
    });
    RecordParts<Real> parts;
    parts.starts.of = interleave(at, static_cast<std::size_t>(keys_.num_parts()));
    parts.records = Buffer<PositionRecord<Real>>(exec_, num, "sorting of positions");
    run_tasks(exec_, num_blocks, [&](Index b) {
      scatter(first_of(b), first_of(b + 1), digits.data(), parts.records.data(),
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

}  // namespace zhalo::kernels
