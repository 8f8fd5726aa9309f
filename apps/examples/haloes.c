/// haloes [PARTICLES]: haloes, neighbours and a field from C (docs/c.md).

#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "zhalo/zhalo.h"

// [errors]
/// zhalo never ends the program. This program ends itself.
static void check(int status) {
  if (status == ZHALO_OK) return;
  fprintf(stderr, "%s\n", zhalo_last_error());
  MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}
// [errors]

// [particles]
typedef struct Particle {
  double position[3];
  float velocity[3];
  float mass;
} Particle;

/// The particles where they are: the address of each member in the first struct, the distance in
/// bytes to the next one, and the type of number.
static zhalo_particles view(const Particle* first, int64_t num) {
  zhalo_particles particles = {.num = num};
  for (int axis = 0; axis < 3; ++axis) {
    particles.position[axis] =
        (zhalo_column){&first->position[axis], sizeof(Particle), ZHALO_DOUBLE};
    particles.velocity[axis] =
        (zhalo_column){&first->velocity[axis], sizeof(Particle), ZHALO_FLOAT};
  }
  particles.mass = (zhalo_column){&first->mass, sizeof(Particle), ZHALO_FLOAT};
  return particles;
}
// [particles]

/// In [0, 1), the same for the same number (the mixer of splitmix64, Steele et al. 2014).
static double random_number(uint64_t number) {
  uint64_t bits = (number + 1) * 0x9e3779b97f4a7c15U;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebU;
  return (double)((bits ^ (bits >> 31)) >> 11) / 9007199254740992.0;
}

/// Particles `first` to `first + num` of a box with five clumps: the same on any number of ranks.
static Particle* make_particles(int64_t first, int64_t num) {
  Particle* particles = calloc((size_t)num + 1, sizeof(Particle));
  for (int64_t i = 0; i < num; ++i) {
    const uint64_t id = (uint64_t)(first + i), clump = id % 10;
    const double radius = clump < 5 ? 0.005 * (double)(5 - clump) : 0.5;
    for (uint64_t axis = 0; axis < 3; ++axis) {
      const double centre = random_number(100 * clump + axis);
      const double offset = 2 * random_number(1000 + 8 * id + axis) - 1;
      particles[i].position[axis] = centre + radius * offset;
      particles[i].velocity[axis] = (float)offset;
    }
    particles[i].mass = 1;
  }
  return particles;
}

// [haloes]
/// Prints the largest halo, and says of each particle in which halo it is: a row of the catalogue,
/// or -1.
static void find_haloes(const zhalo_domain* domain, double linking_length, int64_t num,
                        int64_t* halo_of) {
  zhalo_groups* groups = NULL;
  zhalo_catalogue* haloes = NULL;
  zhalo_catalogue_counts counts;
  check(zhalo_find_groups(domain, linking_length, &groups));
  check(zhalo_make_catalogue(groups, NULL, &haloes));  // of at least 32 particles
  check(zhalo_catalogue_get_counts(haloes, &counts));
  check(zhalo_catalogue_get_group_of_particles(haloes, 0, halo_of, num));

  // Rows are sorted over all ranks, and each rank has an equal share of them.
  const int64_t rows = counts.num_groups;
  int64_t* length = malloc(sizeof(int64_t) * (size_t)(rows + 1));
  double* centre = malloc(3 * sizeof(double) * (size_t)(rows + 1));
  check(zhalo_catalogue_get_lengths(haloes, length, rows));
  check(zhalo_catalogue_get_property(haloes, "GroupPos", centre, 3 * rows));
  if (counts.first_group == 0 && rows > 0) {
    printf("%lld haloes, the largest has %lld particles around %.3f %.3f %.3f\n",
           (long long)counts.num_groups_total, (long long)length[0], centre[0], centre[1],
           centre[2]);
  }
  free(length);
  free(centre);
  zhalo_catalogue_destroy(haloes);
  zhalo_groups_destroy(groups);
}
// [haloes]

// [neighbours]
/// Distances of each particle to its 16 nearest neighbours, nearest first: (num, 16) numbers.
static double* find_distances(const zhalo_domain* domain, int64_t num) {
  const zhalo_neighbour_options options = {.k = 16, .exclude_self = 1};
  zhalo_neighbours* neighbours = NULL;
  double* distances = malloc(sizeof(double) * 16 * (size_t)(num + 1));
  check(zhalo_find_neighbours(domain, &options, &neighbours));
  check(zhalo_neighbours_get_distances(neighbours, ZHALO_DOUBLE, distances, 16 * num));
  zhalo_neighbours_destroy(neighbours);
  return distances;
}
// [neighbours]

// [field]
/// This rank's planes of a field of 32^3 cells: the overdensity, by cloud in cell.
static double* paint(const zhalo_domain* domain, zhalo_cells* cells) {
  const zhalo_paint_options options = {
      .num = {32, 32, 32}, .window = ZHALO_CIC, .values = ZHALO_OVERDENSITY, .split = ZHALO_SLAB};
  check(zhalo_paint_cells(domain, &options, cells));
  int64_t num = 1;
  for (int axis = 0; axis < 3; ++axis) num *= cells->hi[axis] - cells->lo[axis];
  double* values = malloc(sizeof(double) * (size_t)(num + 1));
  check(zhalo_paint(domain, &options, values, num, NULL));
  return values;
}
// [field]

/// Numbers that show what was found, over all ranks.
static void report(int64_t num, const int64_t* halo_of, const double* distances,
                   const zhalo_cells* cells, const double* values) {
  int64_t num_in_haloes = 0;
  double farthest = 0, densest = -1;
  int rank = 0;
  for (int64_t i = 0; i < num; ++i) num_in_haloes += halo_of[i] >= 0;
  for (int64_t i = 15; i < 16 * num; i += 16) {
    if (distances[i] > farthest) farthest = distances[i];
  }
  const int64_t planes = cells->hi[0] - cells->lo[0];
  for (int64_t i = 0; i < planes * 32 * 32; ++i) {
    if (values[i] > densest) densest = values[i];
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(MPI_IN_PLACE, &num_in_haloes, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &farthest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &densest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (rank != 0) return;
  printf("%lld particles in haloes, 16th neighbours up to %.4f away, densest cell %.1f\n",
         (long long)num_in_haloes, farthest, densest);
}

// [main]
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int64_t num_total = argc > 1 ? atoll(argv[1]) : 20000;
  const int64_t first = num_total * rank / size, num = num_total * (rank + 1) / size - first;
  Particle* mine = make_particles(first, num);

  const zhalo_context_options options = {.processor = ZHALO_HOST, .timeout_seconds = 600};
  zhalo_context* context = NULL;
  check(zhalo_context_create(MPI_COMM_WORLD, &options, &context));  // once, for all that follows

  const zhalo_particles particles = view(mine, num);
  const zhalo_box box = {.lo = {0, 0, 0}, .length = {1, 1, 1}, .periodic = {1, 1, 1}};
  zhalo_domain* domain = NULL;
  check(zhalo_domain_create(context, &particles, 1, &box, NULL, &domain));

  int64_t* halo_of = malloc(sizeof(int64_t) * (size_t)(num + 1));
  zhalo_cells cells;
  find_haloes(domain, 0.2 / cbrt((double)num_total), num, halo_of);
  double* distances = find_distances(domain, num);
  double* values = paint(domain, &cells);
  report(num, halo_of, distances, &cells, values);

  free(halo_of);
  free(distances);
  free(values);
  free(mine);
  zhalo_domain_destroy(domain);
  zhalo_context_destroy(context);
  MPI_Finalize();
  return EXIT_SUCCESS;
}
// [main]
