/// Nearest neighbours, and what is computed from them, for C: see zhalo/zhalo.h, which includes
/// this.
#ifndef ZHALO_C_NEIGHBOURS_H
#define ZHALO_C_NEIGHBOURS_H

// This is C: NOLINTBEGIN(modernize-*, readability-identifier-naming)
#include <stdint.h>

#include "zhalo/c/domain.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What zhalo_compute_from_neighbours computes from the distances to the k nearest neighbours.
enum {
  ZHALO_KTH_RADIUS = 0,   ///< the distance to the k-th; infinite if there are fewer
  ZHALO_MEAN_RADIUS = 1,  ///< the mean distance, without the query itself; 0 if there are none
  /// The mass density by an SPH kernel that ends at the last neighbour. 0 if there is none.
  /// Infinite if the last is at the query's position, as where a particle has only itself within a
  /// radius.
  ZHALO_DENSITY = 2,
  /// The dispersion of the neighbours' velocities along one axis, weighted by mass. 0 if there is
  /// no neighbour. ZHALO_INPUT_ERROR if a particle has no velocity.
  ZHALO_VELOCITY_DISPERSION = 3,
  ZHALO_NUM_QUANTITIES  ///< how many there are
};
/// The SPH kernel of ZHALO_DENSITY: Monaghan & Lattanzio (1985), Dehnen & Aly (2012).
enum {
  ZHALO_CUBIC_SPLINE = 0,
  ZHALO_WENDLAND_C2 = 1,
  ZHALO_WENDLAND_C4 = 2,
};

typedef struct zhalo_neighbour_options {
  int k;  ///< neighbours per query, 1 to 4096; 0: 8
  /// 0: each particle is a neighbour of its own, at distance 0. It comes first, unless particles
  /// with smaller indices lie at the same position.
  int exclude_self;
  /// Only neighbours at distances up to this one; 0: any distance.
  double max_radius;
  int queries;   ///< species whose neighbours are searched; not used if points are given
  int targets;   ///< species that the neighbours are of
  int quantity;  ///< ZHALO_KTH_RADIUS, ...; for zhalo_compute_from_neighbours alone
  int kernel;    ///< ZHALO_CUBIC_SPLINE, ...; for ZHALO_DENSITY alone
} zhalo_neighbour_options;

/// The k nearest neighbours of each query.
typedef struct zhalo_neighbours zhalo_neighbours;

/// Finds the k nearest particles of species `targets` for each particle of species `queries`,
/// exactly. Where both are one species, exclude_self counts. Collective. `*neighbours` is null
/// after an error. ZHALO_INPUT_ERROR for options out of range or different on ranks.
int zhalo_find_neighbours(const zhalo_domain* domain, const zhalo_neighbour_options* options,
                          zhalo_neighbours** neighbours);
/// The same for points that are not in the domain. They may be on any rank, and outside an axis of
/// the box that is not periodic. Only their positions are used, which have the precision and the
/// dimensions of the domain's. The particles are sorted again, together with the points. For many
/// calls with the same points, make them a species of the domain. Collective.
int zhalo_find_neighbours_of_points(const zhalo_domain* domain, const zhalo_particles* points,
                                    const zhalo_neighbour_options* options,
                                    zhalo_neighbours** neighbours);
/// Copies (num, k) distances, in the order in which this rank gave its queries, nearest first.
/// `precision` says what `distances` points to, and must be that of the positions. Rows with fewer
/// than k neighbours end with infinity. Collective.
int zhalo_neighbours_get_distances(const zhalo_neighbours* neighbours, int precision,
                                   void* distances, int64_t room);
/// Copies (num, k) global indices of the neighbours. Equal distances are in the order of indices.
/// Rows with fewer than k neighbours end with -1. Collective.
int zhalo_neighbours_get_indices(const zhalo_neighbours* neighbours, int64_t* indices,
                                 int64_t room);
/// Null is allowed.
void zhalo_neighbours_destroy(zhalo_neighbours* neighbours);

/// Counts the particles of species `targets` at distances <= max_radius of each query, and copies
/// one number per query, in the order in which this rank gave them. Queries are the points or, if
/// `points` is null, the particles of species `queries`. k is not used. Collective.
/// ZHALO_INPUT_ERROR for a radius that is not positive and finite, and as above.
int zhalo_count_within(const zhalo_domain* domain, const zhalo_particles* points,
                       const zhalo_neighbour_options* options, int64_t* counts, int64_t room);
/// Computes a quantity from the k nearest neighbours of each query, and copies one number per
/// query. Queries are as in zhalo_count_within. Lists of neighbours never exist all at once, so
/// that memory does not grow with k. Sums run over the neighbours in their order. Collective.
int zhalo_compute_from_neighbours(const zhalo_domain* domain, const zhalo_particles* points,
                                  const zhalo_neighbour_options* options, double* values,
                                  int64_t room);

#ifdef __cplusplus
}
#endif
// NOLINTEND(modernize-*, readability-identifier-naming)

#endif
