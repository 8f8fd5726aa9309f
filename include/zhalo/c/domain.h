/// Particles, boxes and domains for C: see zhalo/zhalo.h, which includes this.
#ifndef ZHALO_C_DOMAIN_H
#define ZHALO_C_DOMAIN_H

// This is C: NOLINTBEGIN(modernize-*, readability-identifier-naming)
#include <stdint.h>

#include "zhalo/c/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The type of numbers.
enum {
  ZHALO_DOUBLE = 0,
  ZHALO_FLOAT = 1,
  ZHALO_UINT8 = 2,  ///< for the types of particles, and only for them
};

/// One number of each particle, in the caller's memory.
typedef struct zhalo_column {
  const void* data;      ///< that of the first particle; null: there is no such column
  int64_t stride_bytes;  ///< from one particle to the next; 0: no gaps
  int precision;         ///< ZHALO_DOUBLE or ZHALO_FLOAT; for types ZHALO_UINT8
} zhalo_column;

/// The box [lo, lo + length). Each axis is periodic (not 0) or not. A periodic axis has a length,
/// and particles outside it (by up to 10^4 lengths) are wrapped into it. On another axis, a length
/// > 0 bounds the particles, and particles outside are an error; with length 0 there are no bounds.
typedef struct zhalo_box {
  double lo[3];
  double length[3];
  int periodic[3];
} zhalo_box;

/// The particles of this rank, where they are: zhalo is told addresses and copies only what it
/// sorts. It does not change them. A rank may have none.
typedef struct zhalo_particles {
  int64_t num;
  int dimensions;            ///< 2 or 3, the same on all ranks; 0: 3
  zhalo_column position[3];  ///< per axis, all of one precision, the same on all ranks
  zhalo_column velocity[3];  ///< per axis, or none
  zhalo_column mass;         ///< or none: then each has uniform_mass
  double uniform_mass;       ///< 0: 1
  zhalo_column type;         ///< of ZHALO_UINT8, or none: then each has uniform_type
  int uniform_type;          ///< 0 to 255
  /// Whether the columns are in memory of the context's device (1) or of the host (0). In the first
  /// case, writes to them must be complete, or queued on the context's stream, and addresses and
  /// strides must be multiples of the number's size. If the columns are
  /// on the host and the context computes on a device, they are copied there for the time of the
  /// call.
  int is_on_device;
} zhalo_particles;

/// Sets `dimensions` columns, one per axis, to the columns of an array of rows: (num, dimensions)
/// numbers, row by row. In Fortran this is an array (dimensions, num).
int zhalo_set_rows(zhalo_column* columns, const void* rows, int precision, int dimensions);

/// The particles of all ranks, sorted once along a space-filling curve and divided evenly, for any
/// number of searches. It has a copy of what it needs: the caller's particles may change after it
/// was made, and do not change the domain.
///
/// A domain has one or several species, such as dark matter and gas. A species is named by its
/// number in the order in which species were given, from 0. All ranks name the same species in a
/// collective call. Groups are those of species 0. Each species has its own global indices, from 0;
/// only a catalogue counts on from one species to the next.
typedef struct zhalo_domain zhalo_domain;

typedef struct zhalo_domain_options {
  /// The smallest linking length or radius of later searches; 0: any. Sorting then takes less time.
  /// Searches with smaller lengths are still correct. Leave it at 0 if nearest neighbours are
  /// searched or species attached: with a length these take long in dense haloes. The length
  /// decides the order of members that lie close together, and so the checksum of a catalogue. The
  /// command `fof` gives its linking length, or 0 if it attaches types.
  double min_length;
} zhalo_domain_options;

/// Sorts the particles of all ranks into a domain. `species` has `num_species` elements, at least
/// one: this rank's particles of each species. All ranks give the same number of species. A rank
/// without particles of a species gives one with all bytes 0 but those of `dimensions`. Null
/// `options` are the defaults. Collective. `*domain` is null after an error. ZHALO_INPUT_ERROR for
/// positions that are not finite or lie outside an axis that is not periodic (the message has the
/// species, their number and the first global index), for a box or a length that makes no sense,
/// for dimensions, precisions, boxes or lengths that differ between species or ranks, and for
/// velocities or masses of a species that some ranks give and others with particles do not. Without
/// any particles the domain is of ZHALO_FLOAT if a species of any rank says so.
int zhalo_domain_create(const zhalo_context* context, const zhalo_particles* species,
                        int num_species, const zhalo_box* box, const zhalo_domain_options* options,
                        zhalo_domain** domain);

typedef struct zhalo_domain_counts {
  int64_t num;          ///< particles of the species that this rank gave
  int64_t num_total;    ///< the same over all ranks
  int64_t num_wrapped;  ///< over all species and ranks: those that were outside a periodic axis
  int num_species;
  int precision;  ///< of the positions, on all ranks: ZHALO_DOUBLE or ZHALO_FLOAT
} zhalo_domain_counts;

/// Not collective. ZHALO_INPUT_ERROR for a species that does not exist.
int zhalo_domain_get_counts(const zhalo_domain* domain, int species, zhalo_domain_counts* counts);
/// Null is allowed.
void zhalo_domain_destroy(zhalo_domain* domain);

#ifdef __cplusplus
}
#endif
// NOLINTEND(modernize-*, readability-identifier-naming)

#endif
