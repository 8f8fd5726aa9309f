/// Particles as the caller has them, their keys and sorted coordinates, and columns of elements.
///
/// Templates are defined in kernels/common/particles, for Host and Cuda, float and double.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/common/arithmetic.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/core/exec.hpp"
#include "zhalo/core/neighbours.hpp"
#include "zhalo/core/span.hpp"
#include "zhalo/core/types.hpp"

namespace zhalo::kernels {

// ---------------------------------------------------------------- particles

template <class Real>
struct SegmentView {
  Index first = 0;  ///< index of its first particle on this rank
  Index num = 0;
  Strided<Real> pos[3];
  RealColumn velocity[3];
  RealColumn mass;
  Strided<std::uint8_t> type;
};

/// A particle: its segment, and its row there.
template <class Real>
struct ParticleRow {
  const SegmentView<Real>& segment;
  Index row;

  ZHALO_HD Vec<Real, 3> pos(int dimensions) const {
    return {{segment.pos[0][row], segment.pos[1][row],
             dimensions == 3 ? segment.pos[2][row] : Real{0}}};
  }
  /// `uniform` where no masses are given.
  ZHALO_HD double mass(double uniform) const { return segment.mass ? segment.mass[row] : uniform; }
  ZHALO_HD int type() const { return segment.type ? segment.type[row] : 0; }
};

/// All particles of a rank in the caller's order. `segments` is never empty; no segment but the
/// only one is empty.
template <class Real>
struct ParticlesView {
  Span<const SegmentView<Real>> segments;
  Index num = 0;
  int dimensions = 3;
  double uniform_mass = 1;

  ZHALO_HD ParticleRow<Real> operator[](Index i) const {
    Index low = 0;
    Index high = segments.size() - 1;
    while (low < high) {
      const Index middle = (low + high + 1) / 2;
      if (segments[middle].first <= i) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return {segments[low], i - segments[low].first};
  }
};

// ---------------------------------------------------------------- positions and keys

/// What one look at all positions tells. Indices count on this rank.
struct PositionSummary {
  Vec3d lo;
  Vec3d hi;
  Index num_not_finite = 0;
  Index first_not_finite = 0;
  Index num_outside = 0;  ///< of a box that is not periodic
  Index first_outside = 0;
  Index num_wrapped = 0;
};

/// How positions become sorted coordinates and keys: wrapped into the box, then multiplied by a
/// power of two (which is exact) so that squares neither overflow nor underflow, and cut into
/// 2^bits cubic cells an axis.
struct KeyFrame {
  Box box;
  Vec3d corner;                 ///< of the cells, unscaled
  double cells_per_length = 0;  ///< unscaled
  int bits_per_axis = 0;
  double scale = 1;

  /// x itself, or its image in [lo, lo + length) on a periodic axis.
  template <class Real>
  ZHALO_HD Real wrapped(Real x, int axis) const {
    if (!box.periodic[axis]) return x;
    const double lo = box.lo[axis];
    const double length = box.length[axis];
    const double hi = lo + length;
    const double value = static_cast<double>(x);
    if (value >= lo && value < hi) return x;
    if (value == hi) return smallest_from<Real>(lo);
    double image = value - length * floor((value - lo) / length);
    if (image < lo) {
      image += length;
    } else if (image >= hi) {
      image -= length;
    }
    const Real rounded = static_cast<Real>(image);
    // What rounding moved out of the box goes to its edge, and so does what lies so far out that no
    // digit of its image is left.
    return static_cast<double>(rounded) >= lo && static_cast<double>(rounded) < hi
               ? rounded
               : smallest_from<Real>(lo);
  }

  int key_bits() const { return bits_per_axis * box.dimensions; }
};

/// Coordinates in sorted order, one array an axis; at least Buffer::padding elements behind the end
/// can be read.
template <class Real>
struct SortedPositions {
  Real* axis[3] = {nullptr, nullptr, nullptr};
  Index num = 0;
};

/// A particle on its way: its sorted coordinates, and its index in the order of its rank's caller.
template <class Real>
struct PositionRecord {
  Real pos[3];
  LocalIndex index;
};

/// Particles of one rank in Z-order: keys, the caller's index of each, coordinates.
// clang-tidy names the loop of the assignment that the compiler makes for arrays.
template <class Real>
struct SortedColumns {  // NOLINT(bugprone-reserved-identifier)
  KeyFrame frame;
  Buffer<std::uint64_t> keys;
  Buffer<LocalIndex> order;
  Buffer<Real> pos[3];

  SortedPositions<Real> positions() {
    return {{pos[0].data(), pos[1].data(), pos[2].data()}, pos[0].size()};
  }
};

/// One look at all positions, before anything is done with them.
template <class E, class Real>
PositionSummary summarize_positions(const E& exec, const ParticlesView<Real>& particles,
                                    const Box& box);

/// The same into memory of the Exec, without a wait.
template <class E, class Real>
void queue_position_summary(const E& exec, const ParticlesView<Real>& particles, const Box& box,
                            PositionSummary* to);

/// Some of the particles of all ranks, evenly spaced in the caller's order: the same ones whatever
/// the ranks.
template <class Real>
struct PositionSample {
  static constexpr Index num = 1024;
  Index first = 0;  ///< global index of this rank's first particle
  Index total = 0;  ///< particles of all ranks, at least `num`
  Real* to = nullptr;

  /// Global index of particle s.
  ZHALO_HD Index index(Index s) const { return total / num * s + total % num * s / num; }
};

/// Coordinates in the box, those of x first, then those of y and of z; 0 for particles of other
/// ranks.
template <class E, class Real>
void sample_positions(const E& exec, const ParticlesView<Real>& particles, const Box& box,
                      const PositionSample<Real>& sample);

/// keys[i] = Morton key of particle i, order[i] = i.
template <class E, class Real>
void make_keys(const E& exec, const ParticlesView<Real>& particles, const KeyFrame& frame,
               Span<std::uint64_t> keys, Span<LocalIndex> order);

/// sorted[i] = wrapped and scaled position of particle order[i].
template <class E, class Real>
void gather_positions(const E& exec, const ParticlesView<Real>& particles, const KeyFrame& frame,
                      Span<const LocalIndex> order, const SortedPositions<Real>& sorted);

/// Sorts by the keys of the frame; equal keys keep the caller's order.
template <class E, class Real>
SortedColumns<Real> sort_positions(const E& exec, const ParticlesView<Real>& particles,
                                   const KeyFrame& frame);

/// Particles of one rank as they are sent, in the order of their keys.
template <class Real>
struct DepartingPositions {
  KeyFrame frame;
  Buffer<PositionRecord<Real>> records;
  /// Ascending. A key stands for one record; or, in the way of KeyWeights, for as many as
  /// num_before says, which have it but for the lowest bits.
  Buffer<std::uint64_t> keys;
  Buffer<Index> num_before;
  /// So many bits count for nothing yet: particles that agree in all others are in the caller's
  /// order.
  int num_low_bits = 0;
};

/// Sorts by the highest bits of the keys: on a host as many as suit about `num_usual` particles, on
/// a device all.
template <class E, class Real>
DepartingPositions<Real> sort_coarsely(const E& exec, const ParticlesView<Real>& particles,
                                       const KeyFrame& frame, Index num_usual);

/// Sorts by all bits what agrees with one of the keys in the bits that count. Each of these records
/// then has a key of its own.
template <class E, class Real>
void sort_around(const E& exec, const std::vector<std::uint64_t>& keys,
                 DepartingPositions<Real>& departing);

/// Of particles that are sorted by all bits.
template <class E, class Real>
DepartingPositions<Real> make_records(const E& exec, SortedColumns<Real> sorted);

/// indices[i] = index of record i.
template <class E, class Real>
void take_indices(const E& exec, Span<const PositionRecord<Real>> records,
                  Span<LocalIndex> indices);

/// The ranks that received elements came from. In memory of the Exec.
struct SourcesView {
  Span<const Index> receive_offset;  ///< by rank, and the end
  Span<const Index> first;           ///< by rank: global number of its first element

  /// Global number of the received element i, which was number `index` on its rank.
  ZHALO_HD Index global(Index i, Index index) const {
    Index low = 0;
    Index high = first.size() - 1;
    while (low < high) {
      const Index middle = (low + high + 1) / 2;
      if (receive_offset[middle] <= i) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return first[low] + index;
  }
};

/// Records that came from other ranks: runs in the order of their keys, one behind the other.
template <class Real>
struct ArrivedPositions {
  Buffer<PositionRecord<Real>> records;
  std::vector<Index> first_of_run;  ///< and the end
  SourcesView sources;              ///< runs, too
  int num_low_bits = 0;             ///< of the keys, which count for nothing in the order of a run

  Index num() const { return records.size(); }
};

/// keys[i] = Morton key of sorted coordinates.
template <class E, class Real>
void make_keys_of_sorted(const E& exec, const SortedPositions<Real>& sorted, const KeyFrame& frame,
                         Span<std::uint64_t> keys);

/// As sort_positions(). The order is that of arrival; global indices are those of the sorted
/// particles.
template <class E, class Real>
SortedColumns<Real> sort_arrived(const E& exec, ArrivedPositions<Real> arrived,
                                 const KeyFrame& frame, Span<Index> global_index);

// ---------------------------------------------------------------- other columns

/// Masses and types, looked at before sums. Indices are global ones, or count on this rank.
struct ColumnSummary {
  Index num_bad_mass = 0;
  Index first_bad_mass = 0;
  Index num_bad_type = 0;
  Index first_bad_type = 0;
};

/// Some of the types that a column of std::uint8_t can hold.
struct TypeSet {
  std::uint64_t words[4] = {};

  ZHALO_HD bool has(int type) const { return (words[type / 64] >> (type % 64) & 1) != 0; }
  void add(int type) { words[type / 64] |= std::uint64_t{1} << (type % 64); }

  friend bool operator==(const TypeSet&, const TypeSet&) = default;
};

/// Columns of particles, one behind the other; those without memory are left out.
template <class Real>
struct PackedColumns {
  Span<Real> pos;  ///< row by row, as are velocities
  Span<float> velocity_float;
  Span<double> velocity;
  Span<float> mass_float;
  Span<double> mass;
  Span<std::uint8_t> type;
};

ZHALO_HD inline bool is_mass(double mass) { return mass > 0 && mass - mass == 0; }

/// Looks for masses that are not positive and finite, and types beyond num_types. The summary is in
/// memory of the Exec.
template <class E, class Real>
void summarize_columns(const E& exec, const ParticlesView<Real>& particles,
                       Span<const Index> global_index, int num_types, ColumnSummary* summary);

/// The largest finite magnitude, or 0.
template <class E, class Real>
Real max_magnitude(const E& exec, Span<const Real> values);

/// marks[i] = 1 if particle i is of one of the types, else 0.
template <class E, class Real>
void mark_types(const E& exec, const ParticlesView<Real>& particles, const TypeSet& types,
                Span<LocalIndex> marks);

/// Copies the columns of all particles, or of the chosen ones.
template <class E, class Real>
void pack_all(const E& exec, const ParticlesView<Real>& particles, const PackedColumns<Real>& to);
template <class E, class Real>
void pack_particles(const E& exec, const ParticlesView<Real>& particles, Span<const LocalIndex> at,
                    const PackedColumns<Real>& to);

// ---------------------------------------------------------------- elements

/// T: float, double, Index, LocalIndex or std::uint8_t.
template <class E, class T>
void fill(const E& exec, Span<T> to, T value);

/// indices[i] = i, of LocalIndex or Index.
template <class E, class T>
void number(const E& exec, Span<T> indices);

/// to[at[i]] = first + i.
template <class E>
void scatter_numbers(const E& exec, Span<const LocalIndex> at, Index first, Span<Index> to);

/// to[i] = from[i] + by, of LocalIndex or Index.
template <class E, class T>
void shift(const E& exec, Span<const T> from, Index by, Span<Index> to);

/// to[i] += from[i].
template <class E>
void add_counts(const E& exec, Span<const LocalIndex> from, Span<Index> to);

/// locations[i] = i on this rank.
template <class E>
void number_locations(const E& exec, int rank, Span<ParticleLocation> locations);

/// Element i of `to` = element at[i] of `from`; or element at[i] of `to` = element i of `from`,
/// which has no gaps. As many elements as `at` has; the number of `from` is not used.
template <class E>
void gather(const E& exec, const ColumnView& from, Span<const LocalIndex> at, void* to);
template <class E>
void scatter(const E& exec, const ColumnView& from, Span<const LocalIndex> at, void* to);

// ---------------------------------------------------------------- origins of received elements

/// Where the particles that were received and sorted came from: the rank, as a key to sort by, and
/// the index there.
struct OriginsView {
  Span<std::uint64_t> rank;
  Span<LocalIndex> index;
};
template <class E>
void find_origins(const E& exec, const SourcesView& sources, Span<const LocalIndex> order,
                  Span<const Index> global_index, const OriginsView& origins);

}  // namespace zhalo::kernels
