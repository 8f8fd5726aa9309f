/// From labels to groups in their order, their members, and sums over these.
///
/// Templates are defined in kernels/common/catalogue, for Host and Cuda, float and double.
#pragma once

#include <limits>

#include "kernels/common/arithmetic.hpp"
#include "kernels/particles.hpp"
#include "zhalo/catalogue/halo_properties.hpp"
#include "zhalo/core/buffer.hpp"

namespace zhalo::kernels {

// ---------------------------------------------------------------- what is summed
//
// What is added up over the members of a halo, and the properties that follow.
//
// Every sum is a sum of integers. So it does not depend on the order of its terms: not on ranks,
// threads or blocks.

/// For sums over so many members: a power of two, the same wherever a part of them is added.
ZHALO_HD inline double resolution_of(Index num_members) {
  int bits = 58;
  for (Index n = 1; n < num_members; n *= 2) --bits;
  return static_cast<double>(Index{1} << bits);
}

// ---------------------------------------------------------------- members

/// Units of the sums: powers of two above the largest mass, extent and velocity of all particles.
struct HaloUnits {
  double mass = 1;
  double length = 1;
  double velocity = 1;
};

/// How stored particles become members, and sums become properties.
struct HaloFrame {
  KeyFrame frame;  ///< only its box is used
  HaloUnits unit;
  double period[3] = {};  ///< in units of length; 0 where the box is not periodic
  /// A stored coordinate, mass or velocity times this is in its unit. Powers of two.
  double coordinate_to_unit = 1;
  double mass_to_unit = 1;
  double velocity_to_unit = 1;
};

/// What the members of a group are compared with, in HaloUnits.
struct HaloReference {
  Vec3d pos;
  Vec3d velocity;
  Index length = 0;  ///< members of the whole group
};

/// The property of a group with a member whose velocity is not known.
inline constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

// ---------------------------------------------------------------- single numbers

template <class Number>
using IntegersOf = Index;

ZHALO_HD inline Index integers_of(double x) { return static_cast<Index>(x); }
ZHALO_HD inline double whole_of(double x) { return static_cast<double>(static_cast<Index>(x)); }
ZHALO_HD inline double magnitude(double x) { return fabs(x); }
ZHALO_HD inline bool both(bool a, bool b) { return a && b; }
ZHALO_HD inline double where(bool is_set, double x) { return is_set ? x : 0; }
ZHALO_HD inline Index num_unset(bool is_set) { return is_set ? 0 : 1; }
ZHALO_HD inline Index total(Index x) { return x; }
ZHALO_HD inline double largest(double x) { return x; }

}  // namespace zhalo::kernels

#define ZHALO_NUMBERS_NAMESPACE zhalo::kernels
#define ZHALO_NUMBERS_INLINE
#include "kernels/common/catalogue/halo_sums.inl.hpp"
#undef ZHALO_NUMBERS_NAMESPACE
#undef ZHALO_NUMBERS_INLINE

namespace zhalo::kernels {

using Moments = MomentsOf<double>;
using Spreads = SpreadsOf<double>;

/// Members and mass of one type.
struct TypeSum {
  Index length = 0;
  FixedSum<double> mass;

  ZHALO_HD TypeSum& operator+=(const TypeSum& other) {
    length += other.length;
    mass += other.mass;
    return *this;
  }
};

// ---------------------------------------------------------------- labels

/// What members must be, so that sums over them make sense.
struct MemberLimits {
  Span<const Index> label;
  Index num_total = 0;  ///< labels are no_group or below
  int num_types = 0;    ///< types are below
};

/// Particles with a mass that is not positive and finite, a type or a label beyond the limits: how
/// many there are, in memory of the Exec. Most often there are none, and nobody asks for more.
template <class E, class Real>
void count_bad_members(const E& exec, const ParticlesView<Real>& particles,
                       const MemberLimits& limits, Index* num_bad);
template <class E>
void count_bad_labels(const E& exec, const MemberLimits& limits, Index* num_bad);

/// label[i] = candidate[i], or no_group where neighbour[i] is negative: there is none.
template <class E>
void take_labels(const E& exec, Span<const Index> neighbour, Span<const Index> candidate,
                 Span<Index> label);

// ---------------------------------------------------------------- groups of one rank
//
// The roots here are indices of this rank's particles, one for each group or for what this rank has
// of it; or no_root: the particle belongs to none. T is Index or LocalIndex.

template <class T>
inline constexpr T no_root = static_cast<T>(no_group);

/// counts[root] = members of the root's group; 0 where no root is. Roots are less than the number
/// of particles. With marks (1 or 0 for each particle; else empty), the marked members.
template <class E, class T>
void count_members(const E& exec, Span<const T> root, Span<const LocalIndex> marks,
                   Span<LocalIndex> counts);

/// The indices i, such as roots of groups, with counts[i] >= `min_members`, ascending. T:
/// LocalIndex or Index.
template <class E, class T>
Buffer<LocalIndex> select_groups(const E& exec, Span<const T> counts, Index min_members);

/// Keys that sort groups by size, largest first.
template <class E>
void make_size_keys(const E& exec, Span<const LocalIndex> counts, Span<const LocalIndex> roots,
                    Span<std::uint64_t> keys);

/// Row of the group of each root. Only those of marked roots are set: what looks for rows reads one
/// bit for most particles, and these bits stay in a cache.
struct RowsView {
  Span<LocalIndex> row;
  Span<LocalIndex> marked;  ///< one bit for each possible root: words_of_bits()

  ZHALO_HD bool has(Index root) const { return (marked[root / 32] >> (root % 32) & 1) != 0; }
};
constexpr Index words_of_bits(Index num) { return (num + 31) / 32; }

/// Takes the lengths of the groups in the order of `roots` from `rows.row`, which has their counts,
/// unless `length` is empty; then numbers the rows.
template <class E>
void number_rows(const E& exec, Span<const LocalIndex> roots, const RowsView& rows,
                 Span<Index> length);

/// group_of[i] = row of the group of particle i, or no_group.
template <class E, class T>
void assign_groups(const E& exec, Span<const T> root, const RowsView& rows, Span<Index> group_of);

/// group_of[i] = row_of[group_of[i]], where it is not no_group.
template <class E>
void renumber_groups(const E& exec, Span<const Index> row_of, Span<Index> group_of);

/// In place of a number that nobody knows yet: to learn it, the host waits for a device.
inline constexpr Index not_known = -1;

/// Indices of the particles that belong to a group, ascending; and keys that sort them by group.
template <class E>
Buffer<LocalIndex> select_members(const E& exec, Span<const Index> group_of, Index num_members);
/// keys[m] = number of the group of members[m] times the number of species, plus its species.
/// `first_of_species` is the index of each species' first particle.
template <class E>
void make_member_keys(const E& exec, Span<const Index> group_of, Span<const LocalIndex> members,
                      Span<const Index> first_of_species, Span<std::uint64_t> keys);

/// The neighbours of particles: negative where there is none; and the ranks that they are on, none
/// if there is only one rank.
struct NeighboursOnRanks {
  Span<const Index> neighbour;
  Span<const LocalIndex> rank_of;
  LocalIndex own_rank = 0;

  ZHALO_HD bool is_here(Index i) const {
    return neighbour[i] >= 0 && (rank_of.empty() || rank_of[i] == own_rank);
  }
};

/// root[i] = root_of_neighbour[i] if the neighbour is on this rank, else no_root; and the others
/// that have a neighbour.
template <class E>
void take_roots(const E& exec, const NeighboursOnRanks& neighbours,
                Span<const LocalIndex> root_of_neighbour, Span<LocalIndex> root);
template <class E>
Buffer<LocalIndex> select_elsewhere(const E& exec, const NeighboursOnRanks& neighbours);

// ---------------------------------------------------------------- groups over ranks
//
// Labels, lengths and rows are sorted and seen as runs: see kernels/sort.hpp.

/// Keys that sort lengths, the longest first.
template <class E>
void make_length_keys(const E& exec, Span<const Index> lengths, Index longest,
                      Span<std::uint64_t> keys);

// ---------------------------------------------------------------- sums over members

/// Members of a part are summed by blocks.
inline constexpr Index members_per_block = 512;

/// The blocks of all parts, one behind the other. A part is a run of members of one group that lie
/// in one segment.
struct BlocksView {
  Span<const Index> offset;       ///< first member of each part, and the end
  Span<const Index> first_block;  ///< of each part, and the end
  Span<const LocalIndex> part;    ///< of each block

  ZHALO_HD Index begin(Index block) const {
    const Index p = part[block];
    return offset[p] + (block - first_block[p]) * members_per_block;
  }
  ZHALO_HD Index end(Index block) const {
    const Index last = offset[Index{part[block]} + 1];
    const Index full = begin(block) + members_per_block;
    return full < last ? full : last;
  }
};

/// Owns what BlocksView shows.
struct MemberBlocks {
  Buffer<Index> first_block;
  Buffer<LocalIndex> part;

  BlocksView view(Span<const Index> offset) const {
    return {offset, first_block.span(), part.span()};
  }
};
template <class E>
MemberBlocks make_blocks(const E& exec, Span<const Index> offset, Index num_blocks);

/// Members, group by group.
template <class Real>
struct MembersView {
  ParticlesView<Real> particles;  ///< with wrapped positions
  HaloFrame halo;
  Span<const LocalIndex> member;  ///< index of each among the particles
  BlocksView blocks;
};

/// Position of each part's first member, in HaloUnits.
template <class E, class Real>
void first_positions(const E& exec, const MembersView<Real>& members, Span<Vec3d> pos);

/// Sums over each part, about the reference of its group: Moments or Spreads.
template <class E, class Real, class Sum>
void sum_members(const E& exec, const MembersView<Real>& members, Span<const HaloReference> about,
                 Span<Sum> sums);
/// By part and type, row by row.
template <class E, class Real>
void sum_types(const E& exec, const MembersView<Real>& members, Span<const HaloReference> about,
               int num_types, Span<TypeSum> sums);

// ---------------------------------------------------------------- from parts to groups

/// Each key becomes the row that it is in: it is divided by the number of species.
template <class E>
void find_rows(const E& exec, int num_species, Span<std::uint64_t> keys);

/// offset[i] = start[i], and the total behind them.
template <class E>
void make_offsets(const E& exec, Span<const LocalIndex> start, Index total, Span<Index> offset);

/// Adds up the sums of the parts of each group, which lie one behind the other from offset[group]
/// on. Each part has `width` sums.
template <class E, class Sum>
void add_parts(const E& exec, Span<const Index> offset, Span<const Sum> parts, Index width,
               Span<Sum> sums);

/// The references of the first look: the position of the group's first part.
template <class E>
void make_references(const E& exec, Span<const Index> offset, Span<const Vec3d> pos_of_parts,
                     Span<const Index> length, Span<HaloReference> references);

/// of_parts[i] = that of the group of part i.
template <class E>
void spread_references(const E& exec, Span<const Index> offset, Span<const HaloReference> of_groups,
                       Span<HaloReference> of_parts);

/// The properties that follow from the sums over a whole group. Moments bring the references from a
/// member to the centre.
template <class E, class Sum>
void finish_sums(const E& exec, const HaloFrame& halo, Span<const Sum> sums,
                 Span<HaloReference> about, Span<HaloProperties> properties);

// ---------------------------------------------------------------- members

/// Where the particles of each species come from, on one rank: their indices in the caller's order,
/// by species; and the index of each species' first particle in both orders.
struct OriginsOfSpecies {
  Span<const Span<const LocalIndex>> origin;
  Span<const Index> first;
};
/// to[m] = global index of members[m].
template <class E>
void find_origins_of_members(const E& exec, const OriginsOfSpecies& origins,
                             Span<const LocalIndex> members, Span<Index> to);

/// A hash of numbers in their order, by the mixing function of SplitMix64 (Steele, Lea & Flood
/// 2014, OOPSLA, 453).
class Hash {
 public:
  ZHALO_HD Hash& add(std::uint64_t number) {
    std::uint64_t x = (value_ ^ number) + 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    value_ = x ^ (x >> 31);
    return *this;
  }
  ZHALO_HD std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0;
};

/// Sum of hashes of (first + i, members[i]), in memory of the Exec.
template <class E>
void hash_members(const E& exec, Span<const Index> members, Index first, std::uint64_t* sum);

}  // namespace zhalo::kernels
