/// Groups as a table: order, members, properties.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "zhalo/catalogue/halo_properties.hpp"
#include "zhalo/domain/domain.hpp"

namespace zhalo {

struct CatalogueOptions {
  /// Groups with fewer members (of the types that count) are left out; at least 1.
  Index min_members = 32;
  /// Particle types that may occur in the `type` columns: 0 to num_types - 1.
  int num_types = 1;
  /// Types whose particles count for min_members, such as the linked ones; empty: all. They change
  /// which groups there are, never their order, lengths and sums: these are of all members.
  std::vector<int> counted_types{};
};

class Redistribution;

/// One row per group with at least `min_members` members, in one order over all ranks: larger first
/// (by all members, whichever count for min_members), then smaller label. This rank holds rows
/// [first_group, first_group + length.size()): share_of(num_groups_total, rank, size).
///
/// All of it is equal bit for bit for any number of ranks and threads, on host and device: sums are
/// sums of integers. Each term of a sum over n members is cut at 2^-(116 - 2 log2 n) of the largest
/// possible term: of the largest mass of any particle, times the largest velocity (squared) or the
/// box's length (squared) where these are in the sum (docs/algorithms.md).
struct Catalogue {
  Index num_groups_total = 0;
  Index num_members_total = 0;  ///< over all groups and ranks
  Index first_group = 0;
  Index first_member = 0;  ///< index of `members[0]` in the order of all members

  std::vector<Index> length;  ///< members
  std::vector<Index>
      label;  ///< as given: of friends_of_friends, the smallest global index of a linked particle
  std::vector<Index> offset;               ///< of the first member in the order of all members
  std::vector<HaloProperties> properties;  ///< mass, centre, velocity, ...

  /// All particles of all ranks have velocities. Else velocities of groups are NaN.
  bool has_velocities = true;

  int num_types = 1;
  std::vector<Index> length_by_type;  ///< [group][type], row by row
  std::vector<double> mass_by_type;   ///< [group][type], row by row

  /// Global indices of the members, group by group. In a group they are in the order of the domain:
  /// species by species, in each along the Z-order. On this rank,
  /// share_of(num_members_total, rank, size) of them, so that a group may go on on the next rank.
  /// Of several species, indices of the second begin behind those of the first. Memory of the
  /// context's Exec.
  Buffer<Index> members;
  /// For each particle of this rank: its group's row in the order of all ranks, or no_group. In the
  /// order of the labels that were given.
  Buffer<Index> group_of;

  /// Of all rows and members of all ranks: the same for the same catalogue, however many ranks made
  /// it. docs/formats.md says how to compute it.
  std::uint64_t checksum = 0;

  /// What brings further columns into group order, one after the other.
  std::vector<std::shared_ptr<const Redistribution>> to_group_order;
};

/// Makes the table from labels: for each particle of a domain, in its order, the number of its
/// group, from 0 to below the number of all particles, the same for all members and for no others;
/// or no_group, and the particle is in no group. friends_of_friends and attach_particles return
/// such labels. Memory of the context's Exec. Several species have one array of labels each.
///
///   const FofResult groups = friends_of_friends(domain, {.linking_length = b});
///   const Catalogue haloes = make_catalogue(domain, groups.label.span(), {.min_members = 32});
///
/// Nothing is sorted or sent again but what crosses ranks: sums over the parts of groups, and the
/// members' indices. Masses, velocities and types are those of the domain.
///
/// Collective. Each rank needs memory in proportion to its own particles and to its share of all
/// members, whatever the groups are.
///
/// Throws, the same on all ranks: InputError for min_members < 1, a type >= num_types, a counted
/// type that is none of them, a mass that is not positive and finite, a label that is neither
/// no_group nor a global index; if ranks differ in options; and what went wrong on any rank.
template <class Real>
Catalogue make_catalogue(const Domain<Real>& domain, Span<const Index> label,
                         const CatalogueOptions& options);
template <class Real>
Catalogue make_catalogue(const Domain<Real>& domain, const std::vector<Span<const Index>>& label,
                         const CatalogueOptions& options);

/// The same for particles in the caller's order, as are the labels and group_of: the particles are
/// brought into a domain first.
template <class Real>
Catalogue make_catalogue(const Context& context, const Particles<Real>& particles, const Box& box,
                         Span<const Index> label, const CatalogueOptions& options);

extern template Catalogue make_catalogue(const Domain<float>&, Span<const Index>,
                                         const CatalogueOptions&);
extern template Catalogue make_catalogue(const Domain<double>&, Span<const Index>,
                                         const CatalogueOptions&);
extern template Catalogue make_catalogue(const Domain<float>&,
                                         const std::vector<Span<const Index>>&,
                                         const CatalogueOptions&);
extern template Catalogue make_catalogue(const Domain<double>&,
                                         const std::vector<Span<const Index>>&,
                                         const CatalogueOptions&);
extern template Catalogue make_catalogue(const Context&, const Particles<float>&, const Box&,
                                         Span<const Index>, const CatalogueOptions&);
extern template Catalogue make_catalogue(const Context&, const Particles<double>&, const Box&,
                                         Span<const Index>, const CatalogueOptions&);

/// Brings a column of the particles, in the order of group_of and in memory of the context's Exec,
/// into group order: `to` has room for members.size() elements on this rank. Collective, over the
/// ranks that made the catalogue. Throws InputError if a column has not one element for each of its
/// rank's particles.
void gather_in_group_order(const Context& context, const Catalogue& catalogue,
                           const ColumnView& column, void* to);

/// The elements of a per-particle column of any trivially copyable type (in the order of group_of
/// and in memory of the context's Exec) that belong to this rank's `members`: group order.
/// Collective. Throws as gather_in_group_order.
template <class T>
Buffer<T> in_group_order(const Context& context, const Catalogue& catalogue, Span<const T> column) {
  return together(context.comm, [&] {
    Buffer<T> ordered(context.exec, catalogue.members.size(), "a column in group order");
    gather_in_group_order(context, catalogue, column_view(column), ordered.data());
    return ordered;
  });
}

}  // namespace zhalo
