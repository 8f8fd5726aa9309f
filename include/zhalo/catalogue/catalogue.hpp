/// Groups as a table: their order, members and properties.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "zhalo/catalogue/attach.hpp"
#include "zhalo/catalogue/halo_properties.hpp"
#include "zhalo/domain/domain.hpp"
#include "zhalo/fof/fof.hpp"

namespace zhalo {

struct CatalogueOptions {
  /// Groups with fewer members (of the counted types) are left out; at least 1.
  Index min_members = 32;
  /// Particle types that may occur in the `type` columns: 0 to num_types - 1; at most 256 types.
  int num_types = 1;
  /// Types whose particles count for min_members, such as the linked ones; empty: all. They decide
  /// which groups are selected. The order, lengths and sums of groups are always those of all
  /// members.
  std::vector<int> counted_types{};
};

class Redistribution;

/// What is largest among particles.
struct Magnitudes {
  double mass = 0;      ///< of those that are finite
  double length = 0;    ///< the longest side of a box around them, or the side of a periodic box
  double velocity = 0;  ///< along an axis, of those that are finite
};

/// A table with one row per group of at least `min_members` members. Rows are in one order over all
/// ranks: larger groups first (by all members, whichever count for min_members), then smaller
/// labels. This rank holds rows [first_group, first_group + length.size()), which is
/// share_of(num_groups_total, rank, size).
///
/// The table is equal bit for bit for any number of ranks and threads, on host and device, because
/// sums are sums of integers. Each term of a sum over n members is truncated at 2^-(116 - 2 log2 n)
/// of the largest possible term. That is the largest mass of any particle, times the largest
/// velocity (squared) or the box's length (squared) if these are in the sum (docs/algorithms.md).
/// find_lost_digits() tells whether a damaged particle spoils the sums so.
struct Catalogue {
  Index num_groups_total = 0;
  Index num_members_total = 0;  ///< over all groups and ranks
  Index first_group = 0;
  Index first_member = 0;  ///< index of `members[0]` in the order of all members

  std::vector<Index> length;  ///< number of members
  /// As given. From friends_of_friends(): the smallest global index of a linked particle.
  std::vector<Index> label;
  std::vector<Index> offset;               ///< of the first member, in the order of all members
  std::vector<HaloProperties> properties;  ///< mass, centre, velocity, ...
  Magnitudes largest;                      ///< of all particles, in groups or not

  /// Whether all particles of all ranks have velocities. If not, velocities of groups are NaN.
  bool has_velocities = true;

  int num_types = 1;
  std::vector<Index> length_by_type;  ///< [group][type], row by row
  std::vector<double> mass_by_type;   ///< [group][type], row by row

  /// Global indices of the members, group by group. Within a group they are in the order of the
  /// domain: species by species, each along the Z-order. This rank has share_of(num_members_total,
  /// rank, size) of them, so a group may continue on the next rank. With several species, indices
  /// of the second begin after those of the first. Memory of the context's Exec.
  Buffer<Index> members;
  /// For each particle of this rank: the row of its group over all ranks, or no_group. In the order
  /// of the labels that were given. Memory of the context's Exec.
  Buffer<Index> group_of;

  /// Checksum of all rows and members of all ranks. It is the same for the same catalogue, however
  /// many ranks made it. docs/formats.md says how to compute it.
  std::uint64_t checksum = 0;

  /// The redistributions that bring further columns into group order, one after the other.
  std::vector<std::shared_ptr<const Redistribution>> to_group_order;
};

/// Makes the table from the groups of a domain's particles.
///
///   const FofResult groups = friends_of_friends(domain, {.linking_length = b});
///   const Catalogue haloes = make_catalogue(domain, groups, {.min_members = 32});
///
/// The groups must be as friends_of_friends() returned them for this domain. Particles of the
/// domain's other species are in these groups if attach_particles() attached them: give its results
/// for these species, in their order. An empty result leaves its species out.
///
///   std::vector<AttachResult> attached;
///   attached.push_back(attach_particles(domain, groups, radius));
///   const Catalogue of_all = make_catalogue(domain, groups, attached, {.min_members = 32});
///
/// To leave particles out of their groups, give labels.
///
/// Labels alone give the same catalogue, but it takes longer. There is one label for each particle,
/// in the domain's order. It is the number of the particle's group, from 0 to below the number of
/// all particles, the same for all members and for no others. A particle with no_group is in no
/// group. attach_particles() returns such labels. They are in memory of the context's Exec. Several
/// species have one array of labels each.
///
/// Masses, velocities and types are those of the domain. Particles are not redistributed again.
/// Only labels, sums over the parts of groups, and the members' indices are exchanged between
/// ranks.
///
/// Collective. Each rank needs memory in proportion to its own particles and to its share of all
/// members, whatever the groups are.
///
/// Throws the same on all ranks: InputError for min_members < 1, num_types outside 1 to 256, a type
/// >= num_types, a counted type outside 0 to num_types - 1, a mass that is not positive and finite,
/// a label that is neither no_group nor a global index, groups that are not of this domain, groups
/// without `attached` if other species have particles, `attached` with another number of results
/// than species after the first or of other groups, or options that differ between ranks;
/// OutOfMemory.
template <class Real>
Catalogue make_catalogue(const Domain<Real>& domain, const FofResult& groups,
                         const CatalogueOptions& options);
template <class Real>
Catalogue make_catalogue(const Domain<Real>& domain, const FofResult& groups,
                         const std::vector<AttachResult>& attached,
                         const CatalogueOptions& options);
template <class Real>
Catalogue make_catalogue(const Domain<Real>& domain, Span<const Index> label,
                         const CatalogueOptions& options);
template <class Real>
Catalogue make_catalogue(const Domain<Real>& domain, const std::vector<Span<const Index>>& label,
                         const CatalogueOptions& options);

/// The same for particles in the caller's order. Labels and group_of are in that order, too. The
/// particles are first brought into a domain.
template <class Real>
Catalogue make_catalogue(const Context& context, const Particles<Real>& particles, const Box& box,
                         Span<const Index> label, const CatalogueOptions& options);

/// Brings a column of the particles into group order. The column is in the order of group_of, in
/// memory of the context's Exec. `to` has room for members.size() elements on this rank. Collective
/// over the ranks that made the catalogue. InputError unless a column has one element for each of
/// its rank's particles, and both it and `to` have memory for what they hold.
void gather_in_group_order(const Context& context, const Catalogue& catalogue,
                           const ColumnView& column, void* to);

/// Returns the elements of a column that belong to this rank's `members`, in group order. The
/// column has one element of any trivially copyable type per particle, in the order of group_of and
/// in memory of the context's Exec. Collective. Throws as gather_in_group_order().
template <class T>
Buffer<T> in_group_order(const Context& context, const Catalogue& catalogue, Span<const T> column) {
  return together(context.comm, [&] {
    Buffer<T> ordered(context.exec, catalogue.members.size(), "a column in group order");
    gather_in_group_order(context, catalogue, column_view(column), ordered.data());
    return ordered;
  });
}

/// The same for columns in the order in which the caller gave the particles to the domain that the
/// catalogue was made of: one column for each species. On one rank elements of members are read
/// straight from there. Collective. InputError unless each column has domain.num_origin(species)
/// elements, all of one size, and the catalogue is of as many particles as the domain.
template <class Real>
void gather_in_group_order(const Domain<Real>& domain, const Catalogue& catalogue,
                           const std::vector<ColumnView>& columns, void* to);
template <class T, class Real>
Buffer<T> in_group_order(const Domain<Real>& domain, const Catalogue& catalogue,
                         const std::vector<Span<const T>>& columns) {
  const Context& context = domain.context();
  return together(context.comm, [&] {
    Buffer<T> ordered(context.exec, catalogue.members.size(), "a column in group order");
    std::vector<ColumnView> views;
    views.reserve(columns.size());
    for (const Span<const T>& column : columns) views.push_back(column_view(column));
    gather_in_group_order(domain, catalogue, views, ordered.data());
    return ordered;
  });
}

// Sums over groups that have lost digits, because one particle is far beyond all others.

/// A number of one particle, far beyond those of members, has cost groups their digits.
struct LostDigits {
  enum class Of { masses, positions, velocities };
  Of of = Of::masses;    ///< the number's column; a mass costs digits of all properties
  Index num_groups = 0;  ///< over all ranks
  double largest = 0;    ///< of all particles: the mass, extent or velocity (Catalogue::largest)
  /// Of these groups, the most that one has: its mean mass, largest radius or rms velocity (with
  /// the dispersion of three axes, in 2-D, too).
  double typical = 0;
};

/// Looks for groups with a mass, centre, velocity, dispersion or rms radius that may be off by more
/// than 1e-6 of the group's own mean mass, radius or rms velocity. Catalogue says how its sums are
/// cut. Snapshots that are not damaged have none, up to groups of 10^9 particles with masses 10^-4
/// of the largest. Reads the catalogue's rows alone. Collective, and the same on all ranks.
std::vector<LostDigits> find_lost_digits(const Communicator& comm, const Catalogue& catalogue);

}  // namespace zhalo
