/// Errors of catalogues, points and domains of several species: one rank alone has something wrong,
/// and all get the error.
#include <math.h>
#include <stddef.h>

#include "tests/mpi/c/errors.h"

static void check_properties(const zhalo_catalogue* catalogue) {
  zhalo_property property;
  double values[3];
  int last = 0;
  while (zhalo_get_property(last, &property) == ZHALO_OK) ++last;
  EXPECT(last == 7);
  EXPECT_ERROR(zhalo_get_property(last, &property), ZHALO_INPUT_ERROR, "no property 7");
  EXPECT_ERROR(zhalo_get_property(-1, &property), ZHALO_INPUT_ERROR, "no property -1");
  EXPECT_ERROR(zhalo_get_property(0, NULL), ZHALO_INPUT_ERROR, "property is null");
  EXPECT_ERROR(zhalo_catalogue_get_property(catalogue, "GroupMass", NULL, 0), ZHALO_INPUT_ERROR,
               "room for 0");
  EXPECT_ERROR(zhalo_catalogue_get_property(catalogue, "GroupPos", values, 2), ZHALO_INPUT_ERROR,
               "room for 2");
  EXPECT_ERROR(zhalo_catalogue_get_property(catalogue, "GroupVel", values, 3), ZHALO_INPUT_ERROR,
               "no property GroupVel (there are GroupMass, GroupPos");
  EXPECT_ERROR(zhalo_catalogue_get_property(catalogue, NULL, values, 3), ZHALO_INPUT_ERROR,
               "name of a property is null");
}

static void check_elements(const zhalo_catalogue* catalogue) {
  static int64_t ids[2 * num], ordered[num];
  const int is_last = rank == size - 1;
  zhalo_elements elements = {ids, sizeof ids[0], 0};
  EXPECT_OK(zhalo_catalogue_get_member_elements(catalogue, &elements, ordered, num));
  EXPECT_ERROR(zhalo_catalogue_get_member_elements(catalogue, &elements, ordered, num - is_last),
               ZHALO_INPUT_ERROR, "room for 19");
  EXPECT_ERROR(
      zhalo_catalogue_get_member_elements(catalogue, is_last ? NULL : &elements, ordered, num),
      ZHALO_INPUT_ERROR, "elements is null");
  EXPECT_ERROR(zhalo_catalogue_get_member_elements(catalogue, &elements, NULL, num),
               ZHALO_INPUT_ERROR, "null");
  if (is_last) elements.data = NULL;
  EXPECT_ERROR(zhalo_catalogue_get_member_elements(catalogue, &elements, ordered, num),
               ZHALO_INPUT_ERROR, "no elements for 20 particles");
  elements = (zhalo_elements){ids, 8, is_last ? 4 : 16};
  EXPECT_ERROR(zhalo_catalogue_get_member_elements(catalogue, &elements, ordered, num),
               ZHALO_INPUT_ERROR, "4 bytes apart");
  if (size == 1) return;
  elements = (zhalo_elements){ids, is_last ? 4 : 8, 0};
  EXPECT_ERROR(zhalo_catalogue_get_member_elements(catalogue, &elements, ordered, num),
               ZHALO_INPUT_ERROR, "bytes of an element differ");
}

void check_catalogues(const zhalo_domain* domain) {
  zhalo_groups* groups = NULL;
  zhalo_catalogue* catalogue = NULL;
  int64_t labels[num];
  EXPECT_OK(zhalo_find_groups(domain, 0.11, &groups));
  EXPECT_ERROR(zhalo_groups_get_labels(groups, 0, labels, num - (rank == 0)), ZHALO_INPUT_ERROR,
               "room for 19");
  EXPECT_ERROR(zhalo_groups_get_labels(groups, 0, NULL, num), ZHALO_INPUT_ERROR, "null");
  zhalo_catalogue_options options = {.min_members = -1};
  EXPECT_STATUS(zhalo_make_catalogue(groups, &options, &catalogue), ZHALO_INPUT_ERROR);
  options = (zhalo_catalogue_options){.num_counted_types = -1};
  EXPECT_ERROR(zhalo_make_catalogue(groups, &options, &catalogue), ZHALO_INPUT_ERROR,
               "there are -1 counted types");
  options = (zhalo_catalogue_options){.num_counted_types = 1};
  EXPECT_ERROR(zhalo_make_catalogue(groups, &options, &catalogue), ZHALO_INPUT_ERROR,
               "counted types is null");
  const int type = 5;
  options = (zhalo_catalogue_options){.counted_types = &type, .num_counted_types = 1};
  EXPECT_STATUS(zhalo_make_catalogue(groups, &options, &catalogue), ZHALO_INPUT_ERROR);
  if (size > 1) {
    options = (zhalo_catalogue_options){.min_members = 1 + rank};
    EXPECT_STATUS(zhalo_make_catalogue(groups, &options, &catalogue), ZHALO_INPUT_ERROR);
  }
  EXPECT(catalogue == NULL);
  options = (zhalo_catalogue_options){.min_members = num};
  EXPECT_OK(zhalo_make_catalogue(groups, &options, &catalogue));
  zhalo_catalogue_counts counts = {0};
  EXPECT_OK(zhalo_catalogue_get_counts(catalogue, &counts));
  EXPECT(counts.num_groups_total == size && counts.num_groups == 1);
  check_properties(catalogue);
  check_elements(catalogue);
  EXPECT_ERROR(zhalo_catalogue_get_members(catalogue, labels, num - 1), ZHALO_INPUT_ERROR,
               "room for 19");
  EXPECT_ERROR(zhalo_catalogue_get_lengths(NULL, labels, num), ZHALO_INPUT_ERROR,
               "catalogue is null");
  zhalo_catalogue_destroy(catalogue);
  zhalo_groups_destroy(groups);
}

/// Quantities that cannot be computed from neighbours.
static void check_quantities(const zhalo_domain* domain) {
  const int is_last = rank == size - 1;
  double values[num];
  const zhalo_particles points = particles_of_rank();
  zhalo_neighbour_options options = {.quantity = is_last ? 99 : 0};
  EXPECT_ERROR(zhalo_compute_from_neighbours(domain, NULL, &options, values, num),
               ZHALO_INPUT_ERROR, "quantity is 99");
  options = (zhalo_neighbour_options){.quantity = ZHALO_DENSITY, .kernel = is_last ? 3 : 0};
  EXPECT_ERROR(zhalo_compute_from_neighbours(domain, NULL, &options, values, num),
               ZHALO_INPUT_ERROR, "kernel is 3");
  options = (zhalo_neighbour_options){.quantity = ZHALO_VELOCITY_DISPERSION};
  EXPECT_ERROR(zhalo_compute_from_neighbours(domain, NULL, &options, values, num),
               ZHALO_INPUT_ERROR, "no velocities");
  EXPECT_ERROR(zhalo_compute_from_neighbours(domain, &points, &options, values, num),
               ZHALO_INPUT_ERROR, "no velocities");
  if (size == 1) return;
  options = (zhalo_neighbour_options){.quantity = is_last ? ZHALO_KTH_RADIUS : ZHALO_MEAN_RADIUS};
  EXPECT_ERROR(zhalo_compute_from_neighbours(domain, NULL, &options, values, num),
               ZHALO_INPUT_ERROR, "same quantities");
}

/// Searches of points, and what is computed from neighbours.
void check_points(const zhalo_domain* domain) {
  static float single[num][3];
  const int is_last = rank == size - 1;
  int64_t counts[num];
  zhalo_neighbours* neighbours = NULL;
  zhalo_particles points = particles_of_rank();
  zhalo_neighbour_options options = {.max_radius = 0.11};
  EXPECT_ERROR(zhalo_find_neighbours_of_points(domain, is_last ? NULL : &points, NULL, &neighbours),
               ZHALO_INPUT_ERROR, "points is null");
  EXPECT_OK(zhalo_count_within(domain, &points, &options, counts, num));
  EXPECT(counts[6] == 5);
  EXPECT_ERROR(zhalo_count_within(domain, &points, &options, counts, num - is_last),
               ZHALO_INPUT_ERROR, "room for 19");
  EXPECT_ERROR(zhalo_count_within(domain, NULL, &options, counts, num - is_last), ZHALO_INPUT_ERROR,
               "room for 19");
  EXPECT_ERROR(zhalo_count_within(domain, NULL, NULL, counts, num), ZHALO_INPUT_ERROR, "finite");
  EXPECT_ERROR(zhalo_count_within(NULL, NULL, &options, counts, num), ZHALO_INPUT_ERROR,
               "domain is null");
  if (is_last) zhalo_set_rows(points.position, single, ZHALO_FLOAT, 3);
  EXPECT_ERROR(zhalo_find_neighbours_of_points(domain, &points, NULL, &neighbours),
               ZHALO_INPUT_ERROR, "the points are in float, and the particles in double");
  points = particles_of_rank();
  if (is_last) position[2][0] = NAN;
  EXPECT_ERROR(zhalo_find_neighbours_of_points(domain, &points, NULL, &neighbours),
               ZHALO_INPUT_ERROR, "queries have a position that is not finite");
  EXPECT(neighbours == NULL);
  points = particles_of_rank();
  check_quantities(domain);
  if (size == 1) return;
  options = (zhalo_neighbour_options){.max_radius = 0.1};
  EXPECT_ERROR(zhalo_count_within(domain, is_last ? NULL : &points, &options, counts, num),
               ZHALO_INPUT_ERROR, "points or particles, differ between ranks");
  options.max_radius = is_last ? 0.1 : 0.2;
  EXPECT_STATUS(zhalo_count_within(domain, NULL, &options, counts, num), ZHALO_INPUT_ERROR);
}

/// Particles of two species that cannot be a domain.
static void check_creation(const zhalo_context* context) {
  static float single[num][3];
  static double other[num][3];
  const int is_last = rank == size - 1;
  zhalo_domain* domain = NULL;
  zhalo_particles species[2] = {particles_of_rank(), {.num = num}};
  zhalo_set_rows(species[1].position, other, ZHALO_DOUBLE, 3);
  EXPECT_ERROR(zhalo_domain_create(context, species, is_last ? 0 : 2, &unit_box, NULL, &domain),
               ZHALO_INPUT_ERROR, "0 species");
  if (is_last) other[4][1] = INFINITY;
  EXPECT_ERROR(zhalo_domain_create(context, species, 2, &unit_box, NULL, &domain),
               ZHALO_INPUT_ERROR, "particles of species 1 have a position that is not finite");
  other[4][1] = 0;
  species[1].uniform_type = is_last ? 256 : 1;
  EXPECT_ERROR(zhalo_domain_create(context, species, 2, &unit_box, NULL, &domain),
               ZHALO_INPUT_ERROR, "type of all particles is 256");
  species[1].uniform_type = 0;
  if (is_last) species[1].type.data = other;
  EXPECT_ERROR(zhalo_domain_create(context, species, 2, &unit_box, NULL, &domain),
               ZHALO_INPUT_ERROR, "must be ZHALO_UINT8");
  species[1].type.data = NULL;
  species[1].mass =
      (zhalo_column){.data = other, .precision = is_last ? ZHALO_UINT8 : ZHALO_DOUBLE};
  EXPECT_ERROR(zhalo_domain_create(context, species, 2, &unit_box, NULL, &domain),
               ZHALO_INPUT_ERROR, "precision is 2");
  species[1].mass.data = NULL;
  if (is_last) zhalo_set_rows(species[1].position, single, ZHALO_FLOAT, 3);
  EXPECT_ERROR(zhalo_domain_create(context, species, 2, &unit_box, NULL, &domain),
               ZHALO_INPUT_ERROR, "in one precision");
  zhalo_set_rows(species[1].position, other, ZHALO_DOUBLE, 3);
  species[1].dimensions = is_last ? 2 : 3;
  EXPECT_ERROR(zhalo_domain_create(context, species, 2, &unit_box, NULL, &domain),
               ZHALO_INPUT_ERROR, "the particles have 2 dimensions, the box has 3");
  EXPECT(domain == NULL);
  if (size == 1) return;
  species[1].dimensions = 3;
  EXPECT_ERROR(zhalo_domain_create(context, species, is_last ? 1 : 2, &unit_box, NULL, &domain),
               ZHALO_INPUT_ERROR, "as many species");
}

/// Groups with another species: which one is not the same on all ranks, or is none.
static void check_attaching(const zhalo_domain* domain) {
  int64_t labels[num];
  const int is_last = rank == size - 1;
  zhalo_groups* groups = NULL;
  zhalo_catalogue* catalogue = NULL;
  EXPECT_OK(zhalo_find_groups(domain, 0.11, &groups));
  EXPECT_ERROR(zhalo_groups_get_labels(groups, 1, labels, num), ZHALO_INPUT_ERROR,
               "attach it first");
  EXPECT_ERROR(zhalo_groups_get_labels(groups, is_last ? 2 : 0, labels, num), ZHALO_INPUT_ERROR,
               "no species 2");
  EXPECT_ERROR(zhalo_attach_species(NULL, 1, 0.1), ZHALO_INPUT_ERROR, "groups is null");
  EXPECT_ERROR(zhalo_attach_species(groups, 0, 0.1), ZHALO_INPUT_ERROR, "species 0 has the groups");
  EXPECT_ERROR(zhalo_attach_species(groups, is_last ? -1 : 1, 0.1), ZHALO_INPUT_ERROR,
               "no species -1");
  EXPECT_ERROR(zhalo_attach_species(groups, 1, is_last ? -0.1 : 0.1), ZHALO_INPUT_ERROR,
               "radius within which particles are attached is -0.1");
  EXPECT_STATUS(zhalo_attach_species(groups, 1, NAN), ZHALO_INPUT_ERROR);
  if (size > 1) {
    EXPECT_ERROR(zhalo_attach_species(groups, 1, is_last ? 0.1 : 0.2), ZHALO_INPUT_ERROR, "radius");
    EXPECT_ERROR(zhalo_attach_species(groups, is_last ? 2 : 1, 0.1), ZHALO_INPUT_ERROR,
                 "no species 2");
    EXPECT_ERROR(zhalo_groups_get_labels(groups, is_last, labels, num), ZHALO_INPUT_ERROR,
                 "the species differ between ranks");
  }
  EXPECT_OK(zhalo_attach_species(groups, 1, 0.1));
  EXPECT_OK(zhalo_groups_get_labels(groups, 1, labels, num));
  EXPECT_STATUS(zhalo_make_catalogue(groups, NULL, &catalogue), ZHALO_INPUT_ERROR);  // of type 3
  const zhalo_catalogue_options options = {.min_members = 2, .num_types = 4};
  EXPECT_OK(zhalo_make_catalogue(groups, &options, &catalogue));
  if (size > 1) {
    EXPECT_ERROR(zhalo_catalogue_get_group_of_particles(catalogue, is_last, labels, num),
                 ZHALO_INPUT_ERROR, "the species differ between ranks");
  }
  const zhalo_elements elements[2] = {{labels, 8, 0}, {labels, 4, 8}};
  EXPECT_ERROR(zhalo_catalogue_get_member_elements(catalogue, elements, position, 3 * num),
               ZHALO_INPUT_ERROR, "elements of one species have 8 bytes, and of another one 4");
  zhalo_catalogue_destroy(catalogue);
  zhalo_groups_destroy(groups);
}

/// Searches between species.
static void check_kinds(const zhalo_domain* domain) {
  const int is_last = rank == size - 1;
  zhalo_neighbours* neighbours = NULL;
  zhalo_domain_counts counts;
  zhalo_neighbour_options options = {.targets = is_last ? 2 : 1};
  EXPECT_ERROR(zhalo_domain_get_counts(domain, 2, &counts), ZHALO_INPUT_ERROR, "no species 2");
  EXPECT_ERROR(zhalo_find_neighbours(domain, &options, &neighbours), ZHALO_INPUT_ERROR,
               "no species 2");
  options = (zhalo_neighbour_options){.queries = is_last ? -1 : 0};
  EXPECT_ERROR(zhalo_find_neighbours(domain, &options, &neighbours), ZHALO_INPUT_ERROR,
               "no species -1");
  if (size > 1) {
    options = (zhalo_neighbour_options){.queries = is_last};
    EXPECT_ERROR(zhalo_find_neighbours(domain, &options, &neighbours), ZHALO_INPUT_ERROR,
                 "the species differ between ranks");
  }
  EXPECT(neighbours == NULL);
}

void check_species(const zhalo_context* context) {
  zhalo_domain* domain = NULL;
  zhalo_particles species[2] = {particles_of_rank(), particles_of_rank()};
  check_creation(context);
  species[1].uniform_type = 3;
  (void)particles_of_rank();  // positions as they were
  EXPECT_OK(zhalo_domain_create(context, species, 2, &unit_box, NULL, &domain));
  check_attaching(domain);
  check_kinds(domain);
  zhalo_domain_destroy(domain);
}
