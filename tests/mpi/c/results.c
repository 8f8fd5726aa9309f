/// zhalo.h from C: points in several layouts, and all results against their definitions.
///
///   test_c.results [device]
#include "tests/mpi/c/results.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/// An array of structs, as simulation codes have it.
typedef struct Body {
  int32_t tag;
  float mass;
  double position[3];
  float velocity[3];
} Body;

static zhalo_box box_of(const Points* points) {
  zhalo_box box = {{0}, {0}, {0}};
  for (int axis = 0; axis < 3; ++axis) {
    box.length[axis] = points->length[axis];
    box.periodic[axis] = points->periodic;
  }
  return box;
}

static void expect_counts(const Points* points, const zhalo_domain* domain) {
  zhalo_domain_counts counts;
  EXPECT_OK(zhalo_domain_get_counts(domain, 0, &counts));
  EXPECT(counts.num == points->num && counts.num_total == points->num_total);
  EXPECT(counts.num_wrapped == (points->periodic ? points->num_total / 50 : 0));
}

/// A domain of structs of mixed precision, which are gone once it is made.
static zhalo_domain* make_from_structs(const zhalo_context* context, const Points* points) {
  static Body bodies[max_points];
  zhalo_particles particles = {.num = points->num};
  zhalo_domain* domain = NULL;
  const zhalo_box box = box_of(points);
  for (int i = 0; i < points->num; ++i) {
    const int from = points->first + i;
    bodies[i].mass = (float)points->mass[from];
    for (int axis = 0; axis < 3; ++axis) {
      bodies[i].position[axis] = points->position[from][axis];
      bodies[i].velocity[axis] = (float)points->velocity[from][axis];
    }
  }
  for (int axis = 0; axis < 3; ++axis) {
    particles.position[axis] = (zhalo_column){&bodies->position[axis], sizeof(Body), ZHALO_DOUBLE};
    particles.velocity[axis] = (zhalo_column){&bodies->velocity[axis], sizeof(Body), ZHALO_FLOAT};
  }
  particles.mass = (zhalo_column){&bodies->mass, sizeof(Body), ZHALO_FLOAT};
  EXPECT_OK(zhalo_domain_create(context, &particles, 1, &box, NULL, &domain));
  memset(bodies, -1, sizeof bodies);
  return domain;
}

/// A domain of arrays of rows in float, and one of masses in double.
static zhalo_domain* make_from_rows(const zhalo_context* context, const Points* points) {
  static float position[3 * max_points], velocity[3 * max_points];
  zhalo_particles particles = {.num = points->num, .dimensions = points->dimensions};
  zhalo_domain* domain = NULL;
  const int dimensions = points->dimensions;
  const zhalo_box box = box_of(points);
  for (int i = 0; i < points->num; ++i) {
    for (int axis = 0; axis < dimensions; ++axis) {
      position[dimensions * i + axis] = (float)points->position[points->first + i][axis];
      velocity[dimensions * i + axis] = (float)points->velocity[points->first + i][axis];
    }
  }
  EXPECT_OK(zhalo_set_rows(particles.position, position, ZHALO_FLOAT, dimensions));
  EXPECT_OK(zhalo_set_rows(particles.velocity, velocity, ZHALO_FLOAT, dimensions));
  particles.mass.data = points->mass + points->first;
  EXPECT_OK(zhalo_domain_create(context, &particles, 1, &box, NULL, &domain));
  return domain;
}

static void check_all(const zhalo_context* context, int dimensions, int periodic) {
  static Points points;
  make_points(&points, dimensions, periodic);
  zhalo_domain* floats = make_from_rows(context, &points);
  expect_counts(&points, floats);
  check_groups(&points, floats, 0.03);
  check_neighbours(&points, floats, ZHALO_FLOAT);
  if (dimensions == 3) {
    zhalo_domain* doubles = make_from_structs(context, &points);
    expect_counts(&points, doubles);
    check_groups(&points, doubles, 0.05);
    check_neighbours(&points, doubles, ZHALO_DOUBLE);
    if (periodic) check_paint(&points, doubles);
    if (periodic) check_paint(&points, floats);
    zhalo_domain_destroy(doubles);
  }
  zhalo_domain_destroy(floats);
}

/// Particles without masses and velocities.
static void check_bare(const zhalo_context* context) {
  static Points points;
  zhalo_particles particles = {.uniform_mass = 2.5};
  zhalo_domain* domain = NULL;
  zhalo_groups* groups = NULL;
  zhalo_catalogue* catalogue = NULL;
  zhalo_catalogue_counts counts;
  double masses[max_points], velocities[3 * max_points];
  int64_t lengths[max_points];
  make_points(&points, 3, 0);
  particles.num = points.num;
  const zhalo_box box = {{0}, {0}, {0}};
  EXPECT_OK(zhalo_set_rows(particles.position, points.position[points.first], ZHALO_DOUBLE, 3));
  EXPECT_OK(zhalo_domain_create(context, &particles, 1, &box, NULL, &domain));
  EXPECT_OK(zhalo_find_groups(domain, 0.05, &groups));
  const zhalo_catalogue_options options = {.min_members = 2};
  EXPECT_OK(zhalo_make_catalogue(groups, &options, &catalogue));
  EXPECT_OK(zhalo_catalogue_get_counts(catalogue, &counts));
  EXPECT(counts.num_groups_total > 1 && !counts.has_velocities);
  EXPECT_OK(zhalo_catalogue_get_lengths(catalogue, lengths, max_points));
  EXPECT_OK(zhalo_catalogue_get_property(catalogue, "GroupMass", masses, max_points));
  EXPECT_OK(
      zhalo_catalogue_get_property(catalogue, "GroupVelPeculiar", velocities, 3 * max_points));
  for (int64_t i = 0; i < counts.num_groups; ++i) {
    EXPECT(masses[i] == 2.5 * (double)lengths[i]);
    EXPECT(velocities[3 * i] != velocities[3 * i]);  // NaN
  }
  zhalo_catalogue_destroy(catalogue);
  zhalo_groups_destroy(groups);
  zhalo_domain_destroy(domain);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int on_device = argc > 1 && strcmp(argv[1], "device") == 0;
  const zhalo_context_options options = {.processor = on_device ? ZHALO_CUDA : ZHALO_HOST};
  zhalo_context* context = NULL;
  int is_on_device = -1;
  EXPECT_OK(zhalo_context_create_f(MPI_Comm_c2f(MPI_COMM_WORLD), &options, &context));
  EXPECT_OK(zhalo_context_is_on_device(context, &is_on_device));
  EXPECT(is_on_device == on_device);
  check_all(context, 3, 1);
  check_all(context, 3, 0);
  check_all(context, 2, 1);
  check_bare(context);
  zhalo_context_destroy(context);
  const int failures = count_failures();
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
