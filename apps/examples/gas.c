/// gas [PARTICLES]: haloes of dark matter and the gas in them, from C (docs/c.md).

#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "zhalo/zhalo.h"

/// zhalo never ends the program. This program ends itself.
static void check(int status) {
  if (status == ZHALO_OK) return;
  fprintf(stderr, "%s\n", zhalo_last_error());
  MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

typedef struct Particle {
  double position[3];
  double mass;
  double temperature;  ///< of gas
} Particle;

enum { dark_matter = 0, gas = 1, num_centres = 5 };

/// In [0, 1), the same for the same number (the mixer of splitmix64, Steele et al. 2014).
static double random_number(uint64_t number) {
  uint64_t bits = (number + 1) * 0x9e3779b97f4a7c15U;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebU;
  return (double)((bits ^ (bits >> 31)) >> 11) / 9007199254740992.0;
}

/// The middle of a clump.
static void find_centre(uint64_t clump, double* centre) {
  for (uint64_t axis = 0; axis < 3; ++axis) centre[axis] = random_number(100 * clump + axis);
}

/// Particles `first` to `first + num` of a species: half of them in five clumps, which are hot. The
/// same on any number of ranks.
static Particle* make_particles(int species, int64_t first, int64_t num) {
  Particle* particles = calloc((size_t)num + 1, sizeof(Particle));
  for (int64_t i = 0; i < num; ++i) {
    const uint64_t id = 2 * (uint64_t)(first + i) + (uint64_t)species, clump = id / 2 % 10;
    const double radius = clump < num_centres ? 0.005 * (double)(5 - clump) : 0.5;
    find_centre(clump, particles[i].position);
    for (uint64_t axis = 0; axis < 3; ++axis) {
      particles[i].position[axis] += radius * (2 * random_number(1000 + 8 * id + axis) - 1);
    }
    particles[i].mass = species == gas ? 0.2 : 1;
    particles[i].temperature = clump < num_centres ? 1e7 / (double)(clump + 1) : 1e4;
  }
  return particles;
}

// [species]
/// Particles of a species. All of them have one type, which is the number of the species.
static zhalo_particles view(const Particle* first, int64_t num, int species) {
  zhalo_particles particles = {.num = num, .uniform_type = species};
  for (int axis = 0; axis < 3; ++axis) {
    particles.position[axis] =
        (zhalo_column){&first->position[axis], sizeof(Particle), ZHALO_DOUBLE};
  }
  particles.mass = (zhalo_column){&first->mass, sizeof(Particle), ZHALO_DOUBLE};
  return particles;
}

/// Dark matter is species 0 of the domain, and gas is species 1.
static zhalo_domain* make_domain(const zhalo_context* context, const Particle* const* particles,
                                 const int64_t* num) {
  const zhalo_box box = {.lo = {0, 0, 0}, .length = {1, 1, 1}, .periodic = {1, 1, 1}};
  const zhalo_particles species[2] = {view(particles[dark_matter], num[dark_matter], dark_matter),
                                      view(particles[gas], num[gas], gas)};
  zhalo_domain* domain = NULL;
  check(zhalo_domain_create(context, species, 2, &box, NULL, &domain));
  return domain;
}
// [species]

// [attach]
/// Haloes of at least 32 particles of dark matter. Gas joins the halo of the nearest particle of
/// dark matter.
static zhalo_catalogue* find_haloes(const zhalo_domain* domain, double linking_length) {
  const int counted[1] = {dark_matter};
  const zhalo_catalogue_options options = {
      .min_members = 32, .num_types = 2, .counted_types = counted, .num_counted_types = 1};
  zhalo_groups* groups = NULL;
  zhalo_catalogue* haloes = NULL;
  check(zhalo_find_groups(domain, linking_length, &groups));
  check(zhalo_attach_species(groups, gas, linking_length));
  check(zhalo_make_catalogue(groups, &options, &haloes));
  zhalo_groups_destroy(groups);
  return haloes;
}
// [attach]

// [members]
/// Prints the mass of gas in the largest halo, and the highest temperature in any halo.
static void report_gas(const zhalo_catalogue* haloes, const Particle* const* particles) {
  zhalo_catalogue_counts counts;
  check(zhalo_catalogue_get_counts(haloes, &counts));

  // Two types in each row: the mass of dark matter, and that of gas.
  double* mass = malloc(2 * sizeof(double) * (size_t)(counts.num_groups + 1));
  check(zhalo_catalogue_get_masses_by_type(haloes, mass, 2 * counts.num_groups));
  if (counts.first_group == 0 && counts.num_groups > 0) {
    printf("%lld haloes, the largest has %.1f of dark matter and %.1f of gas\n",
           (long long)counts.num_groups_total, mass[dark_matter], mass[gas]);
  }

  // Members lie halo by halo. Temperatures come to them from the ranks that gave the particles.
  const zhalo_elements temperature[2] = {
      {&particles[dark_matter]->temperature, sizeof(double), sizeof(Particle)},
      {&particles[gas]->temperature, sizeof(double), sizeof(Particle)}};
  double* of_members = malloc(sizeof(double) * (size_t)(counts.num_members + 1));
  check(zhalo_catalogue_get_member_elements(haloes, temperature, of_members, counts.num_members));
  double hottest = 0;
  for (int64_t i = 0; i < counts.num_members; ++i) hottest = fmax(hottest, of_members[i]);
  MPI_Allreduce(MPI_IN_PLACE, &hottest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (counts.first_group == 0 && counts.num_groups > 0)
    printf("temperatures of members up to %.1e\n", hottest);
  free(mass);
  free(of_members);
}
// [members]

// [points]
/// What is around five points that are no particles. Rank 0 gives all of them.
static void report_points(const zhalo_domain* domain, int rank) {
  double position[num_centres][3], density[num_centres], distance[num_centres];
  int64_t num_near[num_centres];
  zhalo_particles points = {.num = rank == 0 ? num_centres : 0};
  for (uint64_t i = 0; i < num_centres; ++i) find_centre(i, position[i]);
  check(zhalo_set_rows(points.position, position, ZHALO_DOUBLE, 3));

  const zhalo_neighbour_options around = {
      .k = 32, .targets = gas, .quantity = ZHALO_DENSITY, .kernel = ZHALO_WENDLAND_C2};
  check(zhalo_compute_from_neighbours(domain, &points, &around, density, points.num));
  const zhalo_neighbour_options within = {.max_radius = 0.02, .targets = dark_matter};
  check(zhalo_count_within(domain, &points, &within, num_near, points.num));
  const zhalo_neighbour_options first = {.k = 1, .targets = gas};
  zhalo_neighbours* nearest = NULL;
  check(zhalo_find_neighbours_of_points(domain, &points, &first, &nearest));
  check(zhalo_neighbours_get_distances(nearest, ZHALO_DOUBLE, distance, points.num));
  zhalo_neighbours_destroy(nearest);

  for (int64_t i = 0; i < points.num; ++i) {
    printf("gas has density %.2e, the nearest is %.4f away; %lld of dark matter within 0.02\n",
           density[i], distance[i], (long long)num_near[i]);
  }
}
// [points]

// [memory]
/// Gives back what zhalo keeps for its next call, so that the code can use it.
static void release_memory(const zhalo_context* context) {
  zhalo_memory_counts before, after;
  check(zhalo_context_get_memory(context, &before));
  check(zhalo_context_release_memory(context));
  check(zhalo_context_get_memory(context, &after));
  if (after.in_use != before.in_use || after.held > before.held) MPI_Abort(MPI_COMM_WORLD, 1);
}
// [memory]

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int64_t num_total = argc > 1 ? atoll(argv[1]) : 10000;
  const int64_t first = num_total * rank / size;
  const int64_t num[2] = {num_total * (rank + 1) / size - first,
                          num_total * (rank + 1) / size - first};
  Particle* particles[2];
  for (int i = 0; i < 2; ++i) particles[i] = make_particles(i, first, num[i]);

  const zhalo_context_options options = {.processor = ZHALO_HOST, .timeout_seconds = 600};
  zhalo_context* context = NULL;
  check(zhalo_context_create(MPI_COMM_WORLD, &options, &context));
  const Particle* const given[2] = {particles[0], particles[1]};
  zhalo_domain* domain = make_domain(context, given, num);
  zhalo_catalogue* haloes = find_haloes(domain, 0.2 / cbrt((double)num_total));
  report_gas(haloes, given);
  report_points(domain, rank);
  release_memory(context);

  zhalo_catalogue_destroy(haloes);
  zhalo_domain_destroy(domain);
  zhalo_context_destroy(context);
  for (int i = 0; i < 2; ++i) free(particles[i]);
  MPI_Finalize();
  return EXIT_SUCCESS;
}
