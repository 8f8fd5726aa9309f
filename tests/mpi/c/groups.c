/// Groups and catalogues of zhalo.h against their definitions.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/mpi/c/results.h"

enum { min_members = 3 };

/// Rows of the catalogue, by definition.
typedef struct Rows {
  int num;
  int64_t label[max_points];
  int64_t length[max_points];
  int64_t row_of[max_points];  ///< of each point, or -1
} Rows;

static int64_t count(const Points* points, const int64_t* labels, int64_t label) {
  int64_t length = 0;
  for (int i = 0; i < points->num_total; ++i) length += labels[i] == label;
  return length;
}

/// Larger groups first, then smaller labels.
static void brute_rows(const Points* points, const int64_t* labels, Rows* rows) {
  rows->num = 0;
  for (int64_t length = points->num_total; length >= min_members; --length) {
    for (int label = 0; label < points->num_total; ++label) {
      if (labels[label] != label || count(points, labels, label) != length) continue;
      rows->label[rows->num] = label;
      rows->length[rows->num++] = length;
    }
  }
  for (int i = 0; i < points->num_total; ++i) {
    rows->row_of[i] = -1;
    for (int row = 0; row < rows->num; ++row) {
      if (rows->label[row] == labels[i]) rows->row_of[i] = row;
    }
  }
}

/// The properties of one group.
typedef struct Halo {
  double mass, centre[3], velocity[3], dispersion, rms_radius, max_radius;
} Halo;

/// Mass, centre and velocity: sums about one member, in whose neighbourhood all others are.
static void add_means(const Points* points, const Rows* rows, int64_t row, Halo* halo) {
  const double* origin = points->position[rows->label[row]];
  double d[3];
  for (int i = 0; i < points->num_total; ++i) {
    if (rows->row_of[i] != row) continue;
    separation(points, origin, points->position[i], d);
    halo->mass += points->mass[i];
    for (int axis = 0; axis < 3; ++axis) {
      halo->centre[axis] += points->mass[i] * d[axis];
      halo->velocity[axis] += points->mass[i] * points->velocity[i][axis];
    }
  }
  for (int axis = 0; axis < 3; ++axis) {
    halo->centre[axis] = origin[axis] + halo->centre[axis] / halo->mass;
    halo->velocity[axis] /= halo->mass;
  }
}

static Halo brute_halo(const Points* points, const Rows* rows, int64_t row) {
  Halo halo = {0};
  double d[3], radius2 = 0, velocity2 = 0;
  add_means(points, rows, row, &halo);
  for (int i = 0; i < points->num_total; ++i) {
    if (rows->row_of[i] != row) continue;
    separation(points, halo.centre, points->position[i], d);
    const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    radius2 += points->mass[i] * r2;
    halo.max_radius = fmax(halo.max_radius, sqrt(r2));
    for (int axis = 0; axis < 3; ++axis) {
      const double v = points->velocity[i][axis] - halo.velocity[axis];
      velocity2 += points->mass[i] * v * v;
    }
  }
  halo.rms_radius = sqrt(radius2 / halo.mass);
  halo.dispersion = sqrt(velocity2 / halo.mass / points->dimensions);
  return halo;
}

static int near(double a, double b) { return fabs(a - b) <= 1e-9 * (1 + fabs(b)); }

/// This rank's rows, copied from a catalogue.
typedef struct Table {
  zhalo_catalogue_counts counts;
  int64_t length[max_points], label[max_points], offset[max_points];
  double mass[max_points], centre[max_points][3], velocity[max_points][3];
  double dispersion[max_points], rms_radius[max_points], max_radius[max_points];
  int64_t members[max_points], row_of[max_points];
} Table;

static void copy_table(const zhalo_catalogue* catalogue, Table* table) {
  EXPECT_OK(zhalo_catalogue_get_counts(catalogue, &table->counts));
  const int64_t num = table->counts.num_groups;
  EXPECT_OK(zhalo_catalogue_get_lengths(catalogue, table->length, num));
  EXPECT_OK(zhalo_catalogue_get_labels(catalogue, table->label, num));
  EXPECT_OK(zhalo_catalogue_get_offsets(catalogue, table->offset, num));
  EXPECT_OK(zhalo_catalogue_get_property(catalogue, "GroupMass", table->mass, num));
  EXPECT_OK(zhalo_catalogue_get_property(catalogue, "GroupPos", &table->centre[0][0], 3 * num));
  EXPECT_OK(
      zhalo_catalogue_get_property(catalogue, "GroupVelPeculiar", &table->velocity[0][0], 3 * num));
  EXPECT_OK(zhalo_catalogue_get_property(catalogue, "GroupVelDispersion", table->dispersion, num));
  EXPECT_OK(zhalo_catalogue_get_property(catalogue, "GroupInertiaRadius", table->rms_radius, num));
  EXPECT_OK(zhalo_catalogue_get_property(catalogue, "GroupExtentRadius", table->max_radius, num));
  EXPECT_OK(zhalo_catalogue_get_members(catalogue, table->members, table->counts.num_members));
  EXPECT_OK(zhalo_catalogue_get_group_of_particles(catalogue, 0, table->row_of, max_points));
}

/// Rows of this rank that are not as they should be.
static int wrong_rows(const Points* points, const Rows* rows, const Table* table) {
  int wrong = 0;
  for (int64_t i = 0; i < table->counts.num_groups; ++i) {
    const int64_t row = table->counts.first_group + i;
    const Halo halo = brute_halo(points, rows, row);
    int64_t offset = 0;
    double d[3], v[3];
    for (int64_t before = 0; before < row; ++before) offset += rows->length[before];
    separation(points, halo.centre, table->centre[i], d);
    for (int axis = 0; axis < 3; ++axis) v[axis] = table->velocity[i][axis] - halo.velocity[axis];
    const int right =
        table->length[i] == rows->length[row] && table->label[i] == rows->label[row] &&
        table->offset[i] == offset && near(table->mass[i], halo.mass) &&
        near(d[0] * d[0] + d[1] * d[1] + d[2] * d[2], 0) &&
        near(v[0] * v[0] + v[1] * v[1] + v[2] * v[2], 0) &&
        near(table->dispersion[i], halo.dispersion) &&
        near(table->rms_radius[i], halo.rms_radius) && near(table->max_radius[i], halo.max_radius);
    wrong += !right;
  }
  return wrong;
}

/// Members over all ranks that are missing, twice there, or in another group. Collective.
static int wrong_members(const Points* points, const Rows* rows, const Table* table) {
  int times[max_points] = {0}, wrong = 0;
  for (int64_t i = 0; i < table->counts.num_members; ++i) {
    const int64_t at = table->counts.first_member + i;
    int64_t row = 0, end = rows->length[0];
    while (end <= at) end += rows->length[++row];
    ++times[table->members[i]];
    wrong += rows->row_of[table->members[i]] != row;
  }
  MPI_Allreduce(MPI_IN_PLACE, times, max_points, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < points->num_total; ++i) wrong += times[i] != (rows->row_of[i] >= 0);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return wrong;
}

static int wrong_numbers(const Points* points, const int64_t* wanted, const int64_t* own) {
  int wrong = 0;
  for (int i = 0; i < points->num; ++i) wrong += own[i] != wanted[points->first + i];
  return wrong;
}

static void check_catalogue(const Points* points, const Rows* rows,
                            const zhalo_catalogue* catalogue) {
  Table* table = calloc(1, sizeof *table);
  copy_table(catalogue, table);
  int64_t num_groups = table->counts.num_groups, num_members = 0;
  MPI_Allreduce(MPI_IN_PLACE, &num_groups, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  for (int row = 0; row < rows->num; ++row) num_members += rows->length[row];
  EXPECT(rows->num > 3);
  EXPECT(num_groups == rows->num && table->counts.num_groups_total == rows->num);
  EXPECT(table->counts.num_members_total == num_members);
  EXPECT(table->counts.has_velocities);
  EXPECT(wrong_rows(points, rows, table) == 0);
  EXPECT(wrong_members(points, rows, table) == 0);
  EXPECT(wrong_numbers(points, rows->row_of, table->row_of) == 0);

  // Would these comparisons notice?
  if (table->counts.num_groups > 0) {
    table->max_radius[0] += 1e-6;
    EXPECT(wrong_rows(points, rows, table) == 1);
  }
  if (table->counts.first_member == 0) table->members[0] = table->members[1];
  EXPECT(wrong_members(points, rows, table) > 0);
  free(table);
}

void check_groups(const Points* points, const zhalo_domain* domain, double linking_length) {
  int64_t wanted[max_points], labels[max_points] = {0};
  zhalo_groups* groups = NULL;
  zhalo_catalogue* catalogue = NULL;
  Rows rows;
  brute_labels(points, linking_length, wanted);
  brute_rows(points, wanted, &rows);
  EXPECT_OK(zhalo_find_groups(domain, linking_length, &groups));
  EXPECT_OK(zhalo_groups_get_labels(groups, 0, labels, points->num));
  EXPECT(wrong_numbers(points, wanted, labels) == 0);
  ++labels[0];
  EXPECT(wrong_numbers(points, wanted, labels) == (points->num > 0));

  const zhalo_catalogue_options options = {.min_members = min_members};
  EXPECT_OK(zhalo_make_catalogue(groups, &options, &catalogue));
  zhalo_groups_destroy(groups);  // the catalogue has what it needs
  check_catalogue(points, &rows, catalogue);
  zhalo_catalogue_destroy(catalogue);
}
