/// Groups as a table: order, members, properties.
#pragma once

#include <vector>

#include "zhalo/core/box.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/domain/particles.hpp"

namespace zhalo {

struct CatalogueOptions {
  /// Groups with fewer members are left out; at least 1.
  Index min_members = 32;
  /// Particle types that may occur in the `type` columns: 0 to num_types - 1.
  int num_types = 1;
};

/// One row per group with at least `min_members` members, in one order over all ranks: larger first, then smaller label. This
/// rank holds rows [first_group, first_group + length.size()). Sums are in float64. Positions are in the unit of the particles,
/// velocities as given.
struct Catalogue {
  Index num_groups_total = 0;
  Index num_members_total = 0;  ///< over all groups and ranks
  Index first_group = 0;
  Index first_member = 0;  ///< place of `members[0]` in the order of all members

  std::vector<Index> length;  ///< members
  std::vector<Index> label;   ///< smallest global index
  std::vector<Index> offset;  ///< of the first member in the order of all members
  std::vector<double> mass;
  std::vector<Vec3d> centre;                ///< of mass, periodic, inside the box
  std::vector<Vec3d> velocity;              ///< mass-weighted mean; zero without velocities
  std::vector<double> velocity_dispersion;  ///< sqrt(sum m |v - V|^2 / (M D)) in D dimensions: along one axis
  std::vector<double> inertia_radius;       ///< sqrt(sum m |r - c|^2 / M)
  std::vector<double> extent_radius;        ///< max |r - c|

  int num_types = 1;
  std::vector<Index> length_by_type;  ///< [group][type], row by row
  std::vector<double> mass_by_type;   ///< [group][type], row by row

  /// Global indices of the members, group by group, ascending in each group. Memory of the context's Exec.
  Buffer<Index> members;
  /// For each particle of this rank, in the caller's order: its group's row in the order of all ranks, or no_group.
  Buffer<Index> group_of;
};

/// Makes the table from labels: for each particle, in the caller's order, the smallest global index of its group, as
/// friends_of_friends returns them. Collective. Throws InputError for min_members < 1, a type >= num_types, or a mass that is
/// not positive and finite; for a box that cannot be used.
template <class Real>
Catalogue make_catalogue(const Context& context, const Particles<Real>& particles, const Box& box, Span<const Index> label,
                         const CatalogueOptions& options);

extern template Catalogue make_catalogue(const Context&, const Particles<float>&, const Box&, Span<const Index>,
                                         const CatalogueOptions&);
extern template Catalogue make_catalogue(const Context&, const Particles<double>&, const Box&, Span<const Index>,
                                         const CatalogueOptions&);

/// A per-particle column of this rank, in the caller's order and in the memory of the context's Exec.
struct GroupOrderColumn {
  const void* data = nullptr;
  Index num = 0;
  Index element_size = 0;
};
/// Copies the elements of the column that belong to this rank's `members`, in their order, to `to`. Collective.
void gather_in_group_order(const Context& context, const Catalogue& catalogue, const GroupOrderColumn& column, void* to);

/// The elements of a per-particle column of any trivially copyable type (in the caller's order and in the memory of the context's Exec)
/// that belong to this rank's `members`: group order. Collective. Throws InputError if the column is not of the particles' size.
template <class T>
Buffer<T> in_group_order(const Context& context, const Catalogue& catalogue, Span<const T> column) {
  Buffer<T> ordered(context.exec, catalogue.members.size(), "a column in group order");
  gather_in_group_order(context, catalogue, {column.data(), column.size(), static_cast<Index>(sizeof(T))}, ordered.data());
  return ordered;
}

}  // namespace zhalo
