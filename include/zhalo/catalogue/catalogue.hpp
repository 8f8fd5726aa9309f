/// Groups as a table: order, members, properties.
#pragma once

#include <memory>
#include <vector>

#include "zhalo/core/box.hpp"
#include "zhalo/core/column_view.hpp"
#include "zhalo/domain/particles.hpp"

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
/// [first_group, first_group + length.size()): share_of(num_groups_total, rank, size). Sums are in
/// float64. Positions are in the unit of the particles, velocities as given.
///
/// Order and members are equal for any number of ranks, bit for bit; sums differ by rounding,
/// because parts of a group are added by rank.
struct Catalogue {
  Index num_groups_total = 0;
  Index num_members_total = 0;  ///< over all groups and ranks
  Index first_group = 0;
  Index first_member = 0;  ///< place of `members[0]` in the order of all members

  std::vector<Index> length;  ///< members
  std::vector<Index>
      label;  ///< as given: of friends_of_friends, the smallest global index of a linked particle
  std::vector<Index> offset;  ///< of the first member in the order of all members
  std::vector<double> mass;
  std::vector<Vec3d> centre;                ///< of mass, periodic, inside the box
  std::vector<Vec3d> velocity;              ///< mass-weighted mean; empty without velocities
  std::vector<double> velocity_dispersion;  ///< sqrt(sum m |v - V|^2 / (M D)) in D dimensions:
                                            ///< along one axis; or empty
  std::vector<double> rms_radius;           ///< sqrt(sum m |r - c|^2 / M)
  std::vector<double> max_radius;           ///< max |r - c|

  /// All particles of all ranks have velocities. Else `velocity` and `velocity_dispersion` are
  /// empty.
  bool has_velocities = true;

  int num_types = 1;
  std::vector<Index> length_by_type;  ///< [group][type], row by row
  std::vector<double> mass_by_type;   ///< [group][type], row by row

  /// Global indices of the members, group by group, ascending in each group: on this rank,
  /// share_of(num_members_total, rank, size) of them, so that a group may go on on the next rank.
  /// Memory of the context's Exec.
  Buffer<Index> members;
  /// For each particle of this rank, in the caller's order: its group's row in the order of all
  /// ranks, or no_group.
  Buffer<Index> group_of;

  /// What brings further columns into group order, to the ranks of their members: 4 bytes for each
  /// particle of this rank that is in a group and, with several ranks, 4 for each of `members`, in
  /// memory of the context's Exec, and some words per rank.
  std::shared_ptr<const Redistribution> redistribution;
};

/// Makes the table from labels (in memory of the context's Exec): for each particle, in the
/// caller's order, the number of its group, from 0 to below the number of all particles, the same
/// for all members and for no others; or no_group, and the particle is in no group.
/// friends_of_friends returns such numbers: smallest global indices. Where other particles were
/// attached (zhalo/catalogue/attach.hpp), the labels remain those of the linked particles, thus
/// smallest indices in the order of these; the catalogue only needs numbers that do not depend on
/// the ranks, so that its order does not.
///
/// Collective. Each rank needs memory in proportion to its own particles and to its share of all
/// members, whatever the groups are.
///
/// Throws, the same on all ranks: InputError for min_members < 1, a type >= num_types, a counted
/// type that is none of them, a mass that is not positive and finite, a label that is neither
/// no_group nor a global index, or a box that cannot be used; if ranks differ in box, dimensions or
/// options; and what went wrong on any rank.
template <class Real>
Catalogue make_catalogue(const Context& context, const Particles<Real>& particles, const Box& box,
                         Span<const Index> label, const CatalogueOptions& options);

extern template Catalogue make_catalogue(const Context&, const Particles<float>&, const Box&,
                                         Span<const Index>, const CatalogueOptions&);
extern template Catalogue make_catalogue(const Context&, const Particles<double>&, const Box&,
                                         Span<const Index>, const CatalogueOptions&);

/// Brings a column of the particles, in the caller's order and in memory of the context's Exec,
/// into group order: `to` has room for members.size() elements on this rank. Collective, over the
/// ranks that made the catalogue. Throws InputError if a column has not one element for each of its
/// rank's particles.
void gather_in_group_order(const Context& context, const Catalogue& catalogue,
                           const ColumnView& column, void* to);

/// The elements of a per-particle column of any trivially copyable type (in the caller's order and
/// in the memory of the context's Exec) that belong to this rank's `members`: group order.
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
