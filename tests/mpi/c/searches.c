/// Neighbours and painted fields of zhalo.h against their definitions.
#include <math.h>
#include <stdlib.h>

#include "tests/mpi/c/results.h"

enum { k = 7, max_cells = 4096 };

/// Lists of this rank's points, in double.
typedef struct Lists {
  double distance[max_points][k];
  int64_t index[max_points][k];
} Lists;

static void copy_lists(const Points* points, const zhalo_neighbours* neighbours, int precision,
                       Lists* lists) {
  static float single[max_points][k];
  const int64_t room = (int64_t)points->num * k;
  EXPECT_OK(zhalo_neighbours_get_indices(neighbours, &lists->index[0][0], room));
  if (precision == ZHALO_DOUBLE) {
    double* distances = &lists->distance[0][0];
    EXPECT_OK(zhalo_neighbours_get_distances(neighbours, precision, distances, room));
    return;
  }
  EXPECT_OK(zhalo_neighbours_get_distances(neighbours, precision, &single[0][0], room));
  for (int i = 0; i < points->num; ++i) {
    for (int j = 0; j < k; ++j) lists->distance[i][j] = single[i][j];
  }
}

/// The nearest point that is not taken yet, or -1.
static int nearest(const Points* points, int to, const char* is_taken, double max_radius) {
  int best = -1;
  double nearest = max_radius;
  for (int i = 0; i < points->num_total; ++i) {
    const double r = distance(points, to, i);
    if (is_taken[i] || r > nearest || (r == nearest && best >= 0)) continue;
    best = i;
    nearest = r;
  }
  return best;
}

/// Entries of this rank's lists that are not as they should be.
static int wrong_entries(const Points* points, const zhalo_neighbour_options* options,
                         const Lists* lists) {
  int wrong = 0;
  for (int i = 0; i < points->num; ++i) {
    char is_taken[max_points] = {0};
    const int to = points->first + i;
    is_taken[to] = (char)options->exclude_self;
    for (int j = 0; j < k; ++j) {
      const double limit = options->max_radius > 0 ? options->max_radius : INFINITY;
      const int next = nearest(points, to, is_taken, limit);
      const double r = next < 0 ? INFINITY : distance(points, to, next);
      const double own = lists->distance[i][j];
      const int right = lists->index[i][j] == next && (own == r || fabs(own - r) < 1e-6 * r);
      if (next >= 0) is_taken[next] = 1;
      wrong += !right;
    }
  }
  return wrong;
}

void check_neighbours(const Points* points, const zhalo_domain* domain, int precision) {
  const zhalo_neighbour_options choices[] = {
      {.k = k}, {.k = k, .exclude_self = 1}, {.k = k, .exclude_self = 1, .max_radius = 0.06}};
  Lists* lists = calloc(1, sizeof *lists);
  for (int choice = 0; choice < 3; ++choice) {
    zhalo_neighbours* neighbours = NULL;
    EXPECT_OK(zhalo_find_neighbours(domain, &choices[choice], &neighbours));
    copy_lists(points, neighbours, precision, lists);
    EXPECT(wrong_entries(points, &choices[choice], lists) == 0);
    lists->index[0][0] ^= 1;
    EXPECT(wrong_entries(points, &choices[choice], lists) == (points->num > 0));
    zhalo_neighbours_destroy(neighbours);
  }
  free(lists);
}

/// The sum over all points of what each gives to a cell.
static double brute_cell(const Points* points, const zhalo_paint_options* options,
                         const int64_t* cell) {
  double sum = 0;
  for (int i = 0; i < points->num_total; ++i) {
    double share = options->weights == ZHALO_PAINT_MASSES ? points->mass[i] : 1;
    for (int axis = 0; axis < 3; ++axis) {
      const double num = (double)options->num[axis];
      const double x = points->position[i][axis] / points->length[axis] * num;
      const double cells = x - ((double)cell[axis] + 0.5);
      double of_images = 0;  // a wide window may reach a cell from both sides of the box
      for (int image = -3; image <= 3; ++image) {
        of_images += window_value(options->window, cells + image * num);
      }
      share *= of_images;
    }
    sum += share;
  }
  return sum;
}

/// Cells of this rank that are not as they should be.
static int wrong_cells(const Points* points, const zhalo_paint_options* options,
                       const zhalo_cells* box, const double* values) {
  const double tolerance = options->precision == ZHALO_FLOAT ? 1e-5 : 1e-9;
  const double all = (double)(options->num[0] * options->num[1] * options->num[2]);
  double total = 0;
  int wrong = 0;
  for (int i = 0; i < points->num_total; ++i) {
    total += options->weights == ZHALO_PAINT_MASSES ? points->mass[i] : 1;
  }
  int64_t at[3];
  for (at[0] = box->lo[0]; at[0] < box->hi[0]; ++at[0]) {
    for (at[1] = box->lo[1]; at[1] < box->hi[1]; ++at[1]) {
      for (at[2] = box->lo[2]; at[2] < box->hi[2]; ++at[2]) {
        double wanted = brute_cell(points, options, at);
        if (options->values != ZHALO_SUM) wanted /= total / all;
        if (options->values == ZHALO_OVERDENSITY) wanted -= 1;
        wrong += !(fabs(*values++ - wanted) < tolerance * (1 + fabs(wanted)));
      }
    }
  }
  return wrong;
}

static int64_t num_cells(const zhalo_cells* box) {
  int64_t num = 1;
  for (int axis = 0; axis < 3; ++axis) num *= box->hi[axis] - box->lo[axis];
  return num;
}

static void check_field(const Points* points, const zhalo_domain* domain,
                        const zhalo_paint_options* options) {
  double values[max_cells] = {0}, total = 0;
  float single[max_cells] = {0};
  zhalo_cells box;
  zhalo_paint_report report;
  EXPECT_OK(zhalo_paint_cells(domain, options, &box));
  const int64_t num = num_cells(&box);
  int64_t all = num;
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  EXPECT(all == options->num[0] * options->num[1] * options->num[2] && num <= max_cells);
  if (options->precision == ZHALO_FLOAT) {
    EXPECT_OK(zhalo_paint(domain, options, single, num, &report));
    for (int64_t i = 0; i < num; ++i) values[i] = single[i];
  } else {
    EXPECT_OK(zhalo_paint(domain, options, values, num, &report));
  }
  for (int i = 0; i < points->num_total; ++i) total += points->mass[i];
  if (options->weights == ZHALO_PAINT_COUNTS) {
    total = points->num_total;
    EXPECT(fabs(report.effective_number - total) < 1e-9 * total);
  }
  EXPECT(fabs(report.sum - total) < 1e-9 * total);
  EXPECT(fabs(report.mean - total / (double)all) < 1e-9 * total);
  EXPECT(wrong_cells(points, options, &box, values) == 0);
  values[0] += 0.001;
  EXPECT(wrong_cells(points, options, &box, values) == (num > 0));
}

void check_paint(const Points* points, const zhalo_domain* domain) {
  for (int window = ZHALO_NGP; window <= ZHALO_PCS; ++window) {
    const zhalo_paint_options options = {.num = {9, 8, 7}, .window = window};
    check_field(points, domain, &options);
  }
  const zhalo_paint_options counts = {.num = {6, 10, 5},
                                      .window = ZHALO_CIC,
                                      .weights = ZHALO_PAINT_COUNTS,
                                      .values = ZHALO_OVERDENSITY,
                                      .split = ZHALO_SLAB,
                                      .precision = ZHALO_FLOAT};
  check_field(points, domain, &counts);
  const zhalo_paint_options units = {
      .num = {2, 8, 8}, .window = ZHALO_TSC, .values = ZHALO_MEAN_UNITS, .split = ZHALO_PENCIL};
  check_field(points, domain, &units);
}
