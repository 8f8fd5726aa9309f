/// Friends-of-friends groups and their catalogue for C: see zhalo/zhalo.h, which includes this.
#ifndef ZHALO_C_GROUPS_H
#define ZHALO_C_GROUPS_H

// This is C: NOLINTBEGIN(modernize-*, readability-identifier-naming)
#include <stdint.h>

#include "zhalo/c/domain.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Friends of friends -------------------------------------------------------------------------

/// The friends-of-friends groups of a domain.
typedef struct zhalo_groups zhalo_groups;

/// Finds the groups of species 0: two particles at distance r <= linking_length are friends, and
/// all that are joined by friends are one group. Collective. `*groups` is null after an error.
/// ZHALO_INPUT_ERROR unless the linking length is positive, at most half of a periodic axis, the
/// same on all ranks, and more than about 1e-32 of the largest coordinate (in float).
int zhalo_find_groups(const zhalo_domain* domain, double linking_length, zhalo_groups** groups);
/// Gives each particle of another species, such as gas, the group of the nearest particle of
/// species 0, if that is at a distance <= radius. Of several at the same distance, the one with the
/// smallest global index counts. The radius may be infinite. The labels and catalogues that are
/// asked for afterwards have these particles, too; a second call for a species replaces its labels.
/// Collective. ZHALO_INPUT_ERROR for a radius that is negative or NaN, for species 0 or one that
/// does not exist, and for a radius or species that differs between ranks.
int zhalo_attach_species(zhalo_groups* groups, int species, double radius);
/// Copies the label of each particle of a species that this rank gave, in the order in which it
/// gave them: the smallest global index of species 0 in the particle's group, or -1 for a particle
/// that is attached to none. A species that was not attached is an error. Collective.
int zhalo_groups_get_labels(const zhalo_groups* groups, int species, int64_t* labels, int64_t room);
/// Null is allowed.
void zhalo_groups_destroy(zhalo_groups* groups);

// ---- Catalogue ----------------------------------------------------------------------------------

/// A table with one row per group of some size. Rows are in one order over all ranks: larger groups
/// first, then smaller labels. Each rank has an equal share of consecutive rows. Members are the
/// particles of species 0 and those of attached species.
typedef struct zhalo_catalogue zhalo_catalogue;

typedef struct zhalo_catalogue_options {
  /// Groups with fewer members (of the counted types) are left out. 0: 32.
  int64_t min_members;
  int num_types;  ///< types of particles are 0 to num_types - 1; 0: 1
  /// Types whose particles count for min_members: `num_counted_types` numbers. None: all types.
  /// They decide which groups are selected. Order, lengths and sums are those of all members.
  const int* counted_types;
  int num_counted_types;
} zhalo_catalogue_options;

/// Makes the table. Collective. `*catalogue` is null after an error. ZHALO_INPUT_ERROR for options
/// that are out of range or differ between ranks, for a particle with a type that is not below
/// num_types, and for masses that are not positive and finite.
int zhalo_make_catalogue(const zhalo_groups* groups, const zhalo_catalogue_options* options,
                         zhalo_catalogue** catalogue);

typedef struct zhalo_catalogue_counts {
  int64_t num_groups;         ///< rows on this rank
  int64_t num_groups_total;   ///< over all ranks
  int64_t first_group;        ///< row number of this rank's first row, over all ranks
  int64_t num_members;        ///< members on this rank, see zhalo_catalogue_get_members
  int64_t num_members_total;  ///< over all groups and ranks
  int64_t first_member;       ///< index of this rank's first member in the order of all
  int has_velocities;         ///< whether all particles have velocities; else those of rows are NaN
  int num_types;              ///< numbers per row by type
  uint64_t checksum;          ///< of all rows and members: the same for the same catalogue
} zhalo_catalogue_counts;

/// Not collective.
int zhalo_catalogue_get_counts(const zhalo_catalogue* catalogue, zhalo_catalogue_counts* counts);

// Columns of this rank's rows: num_groups elements, or num_groups rows of several numbers. Not
// collective.

/// The number of members.
int zhalo_catalogue_get_lengths(const zhalo_catalogue* catalogue, int64_t* lengths, int64_t room);
/// The smallest global index of species 0 in the group.
int zhalo_catalogue_get_labels(const zhalo_catalogue* catalogue, int64_t* labels, int64_t room);
/// The index of the group's first member in the order of all members of all ranks.
int zhalo_catalogue_get_offsets(const zhalo_catalogue* catalogue, int64_t* offsets, int64_t room);
/// The number of members of each type: num_types numbers a row.
int zhalo_catalogue_get_lengths_by_type(const zhalo_catalogue* catalogue, int64_t* lengths,
                                        int64_t room);
/// The mass of the members of each type: num_types numbers a row.
int zhalo_catalogue_get_masses_by_type(const zhalo_catalogue* catalogue, double* masses,
                                       int64_t room);

/// A property that each group has. Its unit is this product of powers of the caller's units.
typedef struct zhalo_property {
  const char* name;  ///< that of the dataset in the files of `fof`, such as "GroupMass"
  const char* text;  ///< what it is
  int num_numbers;   ///< per row: 1, or 3 for a vector, whose third is 0 in two dimensions
  int mass_power;
  int length_power;
  int velocity_power;
} zhalo_property;

/// Sets property number 0, 1, ... of those that there are. ZHALO_INPUT_ERROR for a number beyond
/// the last. The texts live as long as the program. Not collective.
///
/// They are those of the table of groups in docs/formats.md, from "GroupMass" to
/// "GroupExtentRadius", but not by type. GroupVel is not among them, because it is the peculiar
/// velocity times a scale factor, which a domain does not know.
int zhalo_get_property(int number, zhalo_property* property);
/// Copies the property with this name: num_numbers numbers a row. ZHALO_INPUT_ERROR for a name that
/// is none.
int zhalo_catalogue_get_property(const zhalo_catalogue* catalogue, const char* name, double* values,
                                 int64_t room);

// ---- Members ------------------------------------------------------------------------------------

/// Copies the global indices of members, group by group: num_members elements. Within a group,
/// species come one after the other. Indices of a species begin after those of the species before.
/// Members are in equal shares over the ranks, so that a group may continue on the next rank. Not
/// collective.
int zhalo_catalogue_get_members(const zhalo_catalogue* catalogue, int64_t* members, int64_t room);
/// Copies, for each particle of a species that this rank gave, the row of its group over all ranks,
/// or -1 if it is in no group of the table. Collective.
int zhalo_catalogue_get_group_of_particles(const zhalo_catalogue* catalogue, int species,
                                           int64_t* rows, int64_t room);

/// One element of any kind for each particle of a species that this rank gave, in the order in
/// which it gave them: an id, a temperature, a whole struct.
typedef struct zhalo_elements {
  const void* data;  ///< that of the first particle; in memory of the host or of the device
  int64_t element_bytes;
  int64_t stride_bytes;  ///< from one particle to the next; 0: no gaps
} zhalo_elements;

/// Copies elements of members, in the order of zhalo_catalogue_get_members and from whichever rank
/// has them. `elements` has one struct for each species of the domain, all of one element_bytes.
/// `values` has room for `room` such elements; num_members are needed. Collective.
/// ZHALO_INPUT_ERROR for sizes that differ between species or ranks.
int zhalo_catalogue_get_member_elements(const zhalo_catalogue* catalogue,
                                        const zhalo_elements* elements, void* values, int64_t room);
/// Null is allowed.
void zhalo_catalogue_destroy(zhalo_catalogue* catalogue);

#ifdef __cplusplus
}
#endif
// NOLINTEND(modernize-*, readability-identifier-naming)

#endif
