/// zhalo.h from C: every rank gets the status and the message of an error, and can go on.
#include "tests/mpi/c/errors.h"

#include <math.h>
#include <stddef.h>

int rank, size;
double position[num][3];
const zhalo_box unit_box = {{0, 0, 0}, {2, 2, 2}, {1, 1, 1}};

zhalo_particles particles_of_rank(void) {
  zhalo_particles particles = {.num = num};
  for (int i = 0; i < num; ++i) {
    position[i][0] = 0.1 * (i % 5);
    position[i][1] = 0.1 * (i / 5);
    position[i][2] = 0.2 * rank;
  }
  zhalo_set_rows(particles.position, position, ZHALO_DOUBLE, 3);
  return particles;
}

static void check_contexts(void) {
  zhalo_context* context = NULL;
  zhalo_context_options options = {.processor = 3};
  EXPECT_ERROR(zhalo_context_create(MPI_COMM_NULL, NULL, &context), ZHALO_INPUT_ERROR,
               "MPI_COMM_NULL");
  EXPECT_ERROR(zhalo_context_create(MPI_COMM_WORLD, &options, &context), ZHALO_INPUT_ERROR,
               "processor");
  EXPECT(context == NULL);
  options = (zhalo_context_options){.threads = rank == size - 1 ? -2 : 1};
  EXPECT_ERROR(zhalo_context_create(MPI_COMM_WORLD, &options, &context), ZHALO_INPUT_ERROR,
               "threads");
  options = (zhalo_context_options){.threads = 1, .timeout_seconds = NAN};
  EXPECT_STATUS(zhalo_context_create(MPI_COMM_WORLD, &options, &context), ZHALO_INPUT_ERROR);
  int stream = 0;
  options = (zhalo_context_options){.stream = rank == 0 ? &stream : NULL};
  EXPECT_ERROR(zhalo_context_create(MPI_COMM_WORLD, &options, &context), ZHALO_INPUT_ERROR,
               "without its device");
  const int device = 4000;
  options = (zhalo_context_options){
      .processor = ZHALO_HOST, .device = rank == 0 ? &device : NULL, .stream = NULL};
  EXPECT_ERROR(zhalo_context_create(MPI_COMM_WORLD, &options, &context), ZHALO_INPUT_ERROR,
               "device 4000 is asked for, and the host");
  options = (zhalo_context_options){.processor = ZHALO_CUDA, .device = &device};
  EXPECT_STATUS(zhalo_context_create(MPI_COMM_WORLD, &options, &context), ZHALO_DEVICE_ERROR);
  options = (zhalo_context_options){.device = &device};
  EXPECT_STATUS(zhalo_context_create(MPI_COMM_WORLD, &options, &context), ZHALO_DEVICE_ERROR);
  options = (zhalo_context_options){.device = &device, .stream = &stream};
  EXPECT_STATUS(zhalo_context_create(MPI_COMM_WORLD, &options, &context), ZHALO_DEVICE_ERROR);
  EXPECT_ERROR(zhalo_context_create(MPI_COMM_WORLD, NULL, NULL), ZHALO_INPUT_ERROR, "null");
  EXPECT_ERROR(zhalo_context_is_on_device(NULL, NULL), ZHALO_INPUT_ERROR, "context is null");
  EXPECT_ERROR(zhalo_context_get_memory(NULL, NULL), ZHALO_INPUT_ERROR, "context is null");
  EXPECT_ERROR(zhalo_context_reset_peak_memory(NULL), ZHALO_INPUT_ERROR, "context is null");
  EXPECT_ERROR(zhalo_context_release_memory(NULL), ZHALO_INPUT_ERROR, "context is null");
}

/// A caller's own error on one rank is that of all, and the context goes on.
static void check_errors_of_callers(const zhalo_context* context) {
  EXPECT_OK(zhalo_context_agree(context, ZHALO_OK, NULL));
  const int is_last = rank == size - 1;
  for (int status = ZHALO_INPUT_ERROR; status <= ZHALO_OTHER_ERROR; ++status) {
    EXPECT_ERROR(zhalo_context_agree(context, status, is_last ? "no number" : NULL), status,
                 "no number");
    EXPECT_ERROR(zhalo_context_agree(context, status, "no number at all"), status, "at all");
  }
  // Of several errors that of the lowest rank is told, with its status.
  const int of_rank = rank == 0 ? ZHALO_OUT_OF_MEMORY : ZHALO_INPUT_ERROR;
  EXPECT_ERROR(zhalo_context_agree(context, of_rank, rank == 0 ? "too much" : "no number"),
               ZHALO_OUT_OF_MEMORY, "too much");
  EXPECT_ERROR(zhalo_context_agree(context, ZHALO_OK, "no kind"), ZHALO_INPUT_ERROR,
               "the status 0 (must be 1 to 6, see zhalo.h): no kind");
  EXPECT_OK(zhalo_context_agree(context, ZHALO_OUT_OF_MEMORY, NULL));
  EXPECT_ERROR(zhalo_context_agree(NULL, ZHALO_OK, NULL), ZHALO_INPUT_ERROR, "context is null");
}

/// A text of some ranks gets to all.
static void check_shared_texts(const zhalo_context* context) {
  char shared[8] = "before";
  const int is_last = rank == size - 1;
  EXPECT_OK(zhalo_context_share(context, NULL, shared, sizeof shared));
  EXPECT(strcmp(shared, "") == 0);
  EXPECT_OK(zhalo_context_share(context, is_last ? "last" : NULL, shared, sizeof shared));
  EXPECT(strcmp(shared, "last") == 0);
  EXPECT_OK(zhalo_context_share(context, rank == 0 ? "first" : "other", shared, sizeof shared));
  EXPECT(strcmp(shared, "first") == 0);
  EXPECT_ERROR(zhalo_context_share(context, is_last ? "of eight" : NULL, shared, sizeof shared),
               ZHALO_INPUT_ERROR, "room for 8 elements, and 9 are needed");
  EXPECT_ERROR(zhalo_context_share(context, NULL, NULL, 8), ZHALO_INPUT_ERROR, "null");
  EXPECT_ERROR(zhalo_context_share(NULL, NULL, shared, 8), ZHALO_INPUT_ERROR, "context is null");
}

/// What ranks with particles give, all of them give.
static void check_columns_of_some_ranks(const zhalo_context* context) {
  const int is_last = rank == size - 1;
  zhalo_domain* domain = NULL;
  zhalo_particles species[2] = {particles_of_rank(), particles_of_rank()};
  if (!is_last) zhalo_set_rows(species[1].velocity, position, ZHALO_DOUBLE, 3);
  EXPECT_ERROR(zhalo_domain_create(context, species, 2, &unit_box, NULL, &domain),
               ZHALO_INPUT_ERROR,
               "the particles of species 1 have no velocities on this rank, and others have");
  char culprit[32];
  snprintf(culprit, sizeof culprit, "rank %d: ", size - 1);
  EXPECT(strncmp(zhalo_last_error(), culprit, strlen(culprit)) == 0);
  species[1] = particles_of_rank();
  if (!is_last) species[1].uniform_mass = 2;
  EXPECT_ERROR(zhalo_domain_create(context, species, 2, &unit_box, NULL, &domain),
               ZHALO_INPUT_ERROR, "the particles of species 1 have no masses on this rank");
  species[1].uniform_mass = 0;
  if (!is_last) species[1].mass = (zhalo_column){position, 0, ZHALO_DOUBLE};
  EXPECT_ERROR(zhalo_domain_create(context, species, 2, &unit_box, NULL, &domain),
               ZHALO_INPUT_ERROR, "no masses on this rank");
  EXPECT(domain == NULL);
  // A column here and one mass there are masses. A rank without particles gives nothing.
  if (is_last) species[1].uniform_mass = 3;
  zhalo_set_rows(species[0].velocity, position, ZHALO_DOUBLE, 3);
  if (is_last) species[0] = (zhalo_particles){.num = 0};
  EXPECT_OK(zhalo_domain_create(context, species, 2, &unit_box, NULL, &domain));
  zhalo_domain_destroy(domain);
}

/// One rank alone has a column that cannot be, and all get the error.
static void check_columns(const zhalo_context* context) {
  const int is_last = rank == size - 1;
  zhalo_domain* domain = NULL;
  zhalo_particles particles = particles_of_rank();
  if (is_last) particles.position[2].data = NULL;
  EXPECT_ERROR(zhalo_domain_create(context, &particles, 1, &unit_box, NULL, &domain),
               ZHALO_INPUT_ERROR, "without positions along z");
  particles = particles_of_rank();
  if (is_last) particles.position[1].precision = ZHALO_FLOAT;
  EXPECT_ERROR(zhalo_domain_create(context, &particles, 1, &unit_box, NULL, &domain),
               ZHALO_INPUT_ERROR, "another precision");
  particles = particles_of_rank();
  if (is_last) particles.velocity[1] = particles.position[1];
  EXPECT_ERROR(zhalo_domain_create(context, &particles, 1, &unit_box, NULL, &domain),
               ZHALO_INPUT_ERROR, "velocities");
  particles = particles_of_rank();
  if (is_last) particles.position[0].stride_bytes = 4;
  EXPECT_ERROR(zhalo_domain_create(context, &particles, 1, &unit_box, NULL, &domain),
               ZHALO_INPUT_ERROR, "4 bytes apart");
  EXPECT(domain == NULL);
}

/// Quantities need other columns of the particles, which ranks bring together.
static void check_quantities(const zhalo_context* context) {
  zhalo_domain* domain = NULL;
  const zhalo_particles particles = particles_of_rank();
  EXPECT_OK(zhalo_domain_create(context, &particles, 1, &unit_box, NULL, &domain));
  double values[num];
  zhalo_neighbour_options options = {.k = 2, .quantity = ZHALO_DENSITY};
  EXPECT_OK(zhalo_compute_from_neighbours(domain, &particles, &options, values, num));
  if (rank == size - 1) options.quantity = ZHALO_KTH_RADIUS;
  if (size > 1)
    EXPECT_ERROR(zhalo_compute_from_neighbours(domain, &particles, &options, values, num),
                 ZHALO_INPUT_ERROR, "same quantities");
  zhalo_domain_destroy(domain);
}

/// A context that outlived MPI: an error on each rank, and no abort. The caller's own error stays.
static int is_useless_after_mpi(zhalo_context* context, zhalo_domain* domain) {
  zhalo_groups* groups = NULL;
  const int of_caller = zhalo_context_agree(context, ZHALO_INPUT_ERROR, "an error of the caller");
  const int of_agreement = zhalo_context_agree(context, ZHALO_OK, NULL);
  const int of_search = zhalo_find_groups(domain, 0.1, &groups);
  const int is_said = strstr(zhalo_last_error(), "MPI is finalised") != NULL;
  zhalo_domain_destroy(domain);
  zhalo_context_destroy(context);
  return of_caller == ZHALO_INPUT_ERROR && of_search == ZHALO_COMMUNICATION_ERROR && is_said &&
         groups == NULL && (of_agreement == ZHALO_COMMUNICATION_ERROR || size == 1);
}

/// MPI cannot be asked for the failures of all ranks any more.
static int is_refused_after_mpi(void) {
  zhalo_context* context = NULL;
  const int statuses[] = {zhalo_context_create(MPI_COMM_WORLD, NULL, &context),
                          zhalo_context_create_f(0, NULL, &context)};
  return statuses[0] == ZHALO_INPUT_ERROR && statuses[1] == ZHALO_INPUT_ERROR &&
         strstr(zhalo_last_error(), "MPI_Finalize") != NULL && context == NULL;
}

/// Where no rank has particles, the precision is what a rank says.
static void check_nothing_in_float(const zhalo_context* context) {
  zhalo_particles nothing = {.num = 0};
  if (rank == size - 1) nothing.position[0].precision = ZHALO_FLOAT;
  zhalo_domain* domain = NULL;
  EXPECT_OK(zhalo_domain_create(context, &nothing, 1, &unit_box, NULL, &domain));
  zhalo_neighbours* neighbours = NULL;
  EXPECT_OK(zhalo_find_neighbours(domain, NULL, &neighbours));
  EXPECT_OK(zhalo_neighbours_get_distances(neighbours, ZHALO_FLOAT, NULL, 0));
  EXPECT_ERROR(zhalo_neighbours_get_distances(neighbours, ZHALO_DOUBLE, NULL, 0), ZHALO_INPUT_ERROR,
               "precision of the positions");
  zhalo_neighbours_destroy(neighbours);
  zhalo_domain_destroy(domain);
}

/// One rank alone has something else wrong.
static void check_domains(const zhalo_context* context) {
  const int is_last = rank == size - 1;
  zhalo_domain* domain = NULL;
  zhalo_particles particles = particles_of_rank();
  zhalo_box box = unit_box;
  box.length[1] = -1;
  EXPECT_STATUS(zhalo_domain_create(context, &particles, 1, &box, NULL, &domain),
                ZHALO_INPUT_ERROR);
  EXPECT(domain == NULL);
  if (is_last) position[3][1] = NAN;
  EXPECT_ERROR(zhalo_domain_create(context, &particles, 1, &unit_box, NULL, &domain),
               ZHALO_INPUT_ERROR, "1 of");
  particles = particles_of_rank();
  if (is_last) particles.dimensions = 4;
  EXPECT_ERROR(zhalo_domain_create(context, &particles, 1, &unit_box, NULL, &domain),
               ZHALO_INPUT_ERROR, "dimensions");
  particles = particles_of_rank();
  if (is_last) particles.num = -1;
  EXPECT_ERROR(zhalo_domain_create(context, &particles, 1, &unit_box, NULL, &domain),
               ZHALO_INPUT_ERROR, "-1 particles");
  particles = particles_of_rank();
  if (is_last) particles.is_on_device = 1;
  EXPECT_ERROR(zhalo_domain_create(context, &particles, 1, &unit_box, NULL, &domain),
               ZHALO_INPUT_ERROR, "on a device");
  EXPECT_ERROR(zhalo_domain_create(context, NULL, 1, &unit_box, NULL, &domain), ZHALO_INPUT_ERROR,
               "particles is null");
  EXPECT_ERROR(
      zhalo_domain_create(context, &particles, 1, &unit_box, NULL, is_last ? NULL : &domain),
      ZHALO_INPUT_ERROR, "null");
}

/// Ranks that differ in precision are told so; a rank without particles has none.
static void check_precisions(const zhalo_context* context) {
  static float single[num][3];
  zhalo_domain* domain = NULL;
  zhalo_particles particles = particles_of_rank();
  const int is_last = rank == size - 1;
  if (is_last) zhalo_set_rows(particles.position, single, ZHALO_FLOAT, 3);
  if (size == 1) return;
  EXPECT_ERROR(zhalo_domain_create(context, &particles, 1, &unit_box, NULL, &domain),
               ZHALO_INPUT_ERROR, "float");
  if (!is_last) particles = (zhalo_particles){0};
  EXPECT_OK(zhalo_domain_create(context, &particles, 1, &unit_box, NULL, &domain));
  zhalo_domain_counts counts = {0};
  EXPECT_OK(zhalo_domain_get_counts(domain, 0, &counts));
  EXPECT(counts.num_total == num);
  zhalo_domain_destroy(domain);
}

static void check_searches(const zhalo_domain* domain) {
  zhalo_groups* groups = NULL;
  zhalo_neighbours* neighbours = NULL;
  const int is_last = rank == size - 1;
  EXPECT_STATUS(zhalo_find_groups(domain, 0, &groups), ZHALO_INPUT_ERROR);
  EXPECT_STATUS(zhalo_find_groups(domain, NAN, &groups), ZHALO_INPUT_ERROR);
  EXPECT_STATUS(zhalo_find_groups(domain, 1.5, &groups), ZHALO_INPUT_ERROR);
  if (size > 1) {
    EXPECT_STATUS(zhalo_find_groups(domain, is_last ? 0.1 : 0.2, &groups), ZHALO_INPUT_ERROR);
  }
  EXPECT(groups == NULL);
  zhalo_neighbour_options options = {.k = is_last ? 5000 : 8};
  EXPECT_STATUS(zhalo_find_neighbours(domain, &options, &neighbours), ZHALO_INPUT_ERROR);
  options = (zhalo_neighbour_options){.max_radius = -1};
  EXPECT_STATUS(zhalo_find_neighbours(domain, &options, &neighbours), ZHALO_INPUT_ERROR);
  EXPECT(neighbours == NULL);
  int64_t counts[num];
  EXPECT_ERROR(zhalo_count_within(domain, NULL, NULL, counts, num), ZHALO_INPUT_ERROR,
               "max_radius is 0 or not set");
  EXPECT_ERROR(zhalo_find_groups(NULL, 0.1, &groups), ZHALO_INPUT_ERROR, "domain is null");

  EXPECT_OK(zhalo_find_neighbours(domain, NULL, &neighbours));
  static double distances[num][8];
  static int64_t indices[num][8];
  EXPECT_OK(zhalo_neighbours_get_indices(neighbours, &indices[0][0], 8 * num));
  EXPECT_OK(zhalo_neighbours_get_distances(neighbours, ZHALO_DOUBLE, distances, 8 * num));
  EXPECT(indices[0][0] == (int64_t)num * rank && distances[0][0] == 0);
  EXPECT_ERROR(zhalo_neighbours_get_indices(neighbours, &indices[0][0], 8 * num - is_last),
               ZHALO_INPUT_ERROR, "room for 159");
  EXPECT_ERROR(zhalo_neighbours_get_distances(neighbours, ZHALO_FLOAT, distances, 8 * num),
               ZHALO_INPUT_ERROR, "precision");
  zhalo_neighbours_destroy(neighbours);
}

static void check_fields(const zhalo_domain* domain) {
  double values[64];
  zhalo_cells cells;
  zhalo_paint_options options = {.num = {4, 4, 0}};
  EXPECT_STATUS(zhalo_paint_cells(domain, &options, &cells), ZHALO_INPUT_ERROR);
  EXPECT_STATUS(zhalo_paint(domain, &options, values, 64, NULL), ZHALO_INPUT_ERROR);
  options = (zhalo_paint_options){.num = {4, 4, 4}, .window = 9};
  EXPECT_ERROR(zhalo_paint(domain, &options, values, 64, NULL), ZHALO_INPUT_ERROR, "window");
  options = (zhalo_paint_options){.num = {4, 4, 4}, .species = 1};
  EXPECT_ERROR(zhalo_paint(domain, &options, values, 64, NULL), ZHALO_INPUT_ERROR, "no species 1");
  options = (zhalo_paint_options){.num = {4, 4, 4}};
  EXPECT_ERROR(zhalo_paint(domain, &options, values, 0, NULL), ZHALO_INPUT_ERROR, "room for 0");
  EXPECT_OK(zhalo_paint(domain, &options, values, 64, NULL));
  if (size == 1) return;
  options.precision = rank == 0 ? ZHALO_FLOAT : ZHALO_DOUBLE;
  EXPECT_ERROR(zhalo_paint(domain, &options, values, 64, NULL), ZHALO_INPUT_ERROR, "float");
  options = (zhalo_paint_options){.num = {4, 4, 4}, .window = rank == 0 ? ZHALO_NGP : ZHALO_PCS};
  EXPECT_STATUS(zhalo_paint(domain, &options, values, 64, NULL), ZHALO_INPUT_ERROR);
}

/// A context of one rank without MPI, and handles that outlive what they were made of.
static void check_alone(void) {
  zhalo_context* context = NULL;
  zhalo_domain* domain = NULL;
  zhalo_groups* groups = NULL;
  int64_t labels[num] = {0};
  const zhalo_particles particles = particles_of_rank();
  const zhalo_context_options options = {.processor = ZHALO_HOST, .threads = 1};
  EXPECT_OK(zhalo_context_create_alone(&options, &context));
  EXPECT_OK(zhalo_domain_create(context, &particles, 1, &unit_box, NULL, &domain));
  zhalo_context_destroy(context);
  EXPECT_OK(zhalo_find_groups(domain, 0.11, &groups));
  zhalo_domain_destroy(domain);
  labels[num - 1] = -1;
  EXPECT_OK(zhalo_groups_get_labels(groups, 0, labels, num));
  EXPECT(labels[0] == 0 && labels[num - 1] == 0);
  zhalo_groups_destroy(groups);
}

static void check_version(void) {
  int major = -1, minor = -1, patch = -1;
  zhalo_get_version(&major, &minor, &patch);
  EXPECT(major == ZHALO_VERSION_MAJOR && minor == ZHALO_VERSION_MINOR);
  EXPECT(patch == ZHALO_VERSION_PATCH);
  zhalo_get_version(NULL, NULL, NULL);
}

int main(int argc, char** argv) {
  zhalo_context* context = NULL;
  EXPECT_ERROR(zhalo_context_create(MPI_COMM_WORLD, NULL, &context), ZHALO_INPUT_ERROR, "MPI_Init");
  EXPECT_ERROR(zhalo_context_create_f(0, NULL, &context), ZHALO_INPUT_ERROR, "MPI_Init");
  check_version();
  check_alone();
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  check_contexts();

  // One context for all that follows: it is as good as new after each error.
  const zhalo_context_options options = {.processor = ZHALO_HOST, .timeout_seconds = 60};
  EXPECT_OK(zhalo_context_create(MPI_COMM_WORLD, &options, &context));
  check_errors_of_callers(context);
  check_shared_texts(context);
  check_domains(context);
  check_columns(context);
  if (size > 1) check_columns_of_some_ranks(context);
  check_precisions(context);
  check_nothing_in_float(context);
  check_quantities(context);
  const zhalo_particles particles = particles_of_rank();
  zhalo_domain* domain = NULL;
  EXPECT_OK(zhalo_domain_create(context, &particles, 1, &unit_box, NULL, &domain));
  check_searches(domain);
  check_catalogues(domain);
  check_fields(domain);
  check_points(domain);
  check_species(context);
  zhalo_catalogue_destroy(NULL);
  zhalo_context_destroy(NULL);
  zhalo_domain_destroy(NULL);
  zhalo_groups_destroy(NULL);
  zhalo_neighbours_destroy(NULL);
  const int failures = count_failures();
  MPI_Finalize();
  const int is_refused = is_useless_after_mpi(context, domain) && is_refused_after_mpi();
  return failures == 0 && is_refused ? 0 : 1;
}
