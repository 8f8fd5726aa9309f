#include "tests/mpi/c/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "zhalo/zhalo.h"

static int failures = 0;

void expect(int holds, const char* condition, const char* file, int line) {
  if (holds) return;
  ++failures;
  if (failures < 20) fprintf(stderr, "%s:%d: FAILED: %s\n", file, line, condition);
}

void expect_status(int status, int wanted, const char* call, const char* file, int line) {
  const char* message = zhalo_last_error();
  if (status == wanted && (status == ZHALO_OK) == (strlen(message) == 0)) return;
  fprintf(stderr, "status %d instead of %d, with the message '%s'\n", status, wanted, message);
  expect(0, call, file, line);
}

int count_failures(void) {
  int all = failures;
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

/// Uniform in [0, 1): a linear congruential generator (Knuth's constants).
static double uniform(void) {
  static uint64_t state = 1;
  state = state * 6364136223846793005U + 1442695040888963407U;
  return (double)(state >> 40) / (double)(1 << 24);
}

void make_points(Points* points, int dimensions, int periodic) {
  const double length[3] = {1.0, 1.5, 0.75};
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  memset(points, 0, sizeof *points);
  points->num_total = 500;
  points->dimensions = dimensions;
  points->periodic = periodic;
  memcpy(points->length, length, sizeof length);
  for (int i = 0; i < points->num_total; ++i) {
    points->mass[i] = 1 + (double)(i % 4);
    for (int axis = 0; axis < dimensions; ++axis) {
      const double centre = i % 16 < 10 ? 0.05 + 0.13 * (i % 7) : uniform();
      const double spread = i % 16 < 10 ? 0.08 : 0.0;
      const double x = (centre + spread * (uniform() - 0.5)) * length[axis];
      // Some are outside a periodic box.
      points->position[i][axis] = (float)(periodic && i % 50 == 7 ? x + length[axis] : x);
      points->velocity[i][axis] = (float)(uniform() - 0.5);
    }
  }
  // Rank 1 of three or more has nothing.
  const int parts = size > 2 ? size - 1 : size, part = size > 2 && rank > 0 ? rank - 1 : rank;
  points->first = points->num_total * part / parts;
  points->num = points->num_total * (part + 1) / parts - points->first;
  if (size > 2 && rank == 1) points->first = points->num_total / parts, points->num = 0;
}

void separation(const Points* points, const double* from, const double* to, double* vector) {
  for (int axis = 0; axis < 3; ++axis) {
    const double length = points->length[axis];
    vector[axis] = to[axis] - from[axis];
    if (points->periodic) vector[axis] -= length * round(vector[axis] / length);
  }
}

double distance(const Points* points, int a, int b) {
  double d[3];
  separation(points, points->position[a], points->position[b], d);
  return sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

void brute_labels(const Points* points, double linking_length, int64_t* labels) {
  int changed = 1;
  for (int i = 0; i < points->num_total; ++i) labels[i] = i;
  while (changed) {
    changed = 0;
    for (int i = 0; i < points->num_total; ++i) {
      for (int j = 0; j < points->num_total; ++j) {
        if (labels[j] >= labels[i] || distance(points, i, j) > linking_length) continue;
        labels[i] = labels[j];
        changed = 1;
      }
    }
  }
}

double window_value(int order, double cells) {
  const double s = fabs(cells);
  switch (order) {
    case ZHALO_NGP: return s < 0.5 ? 1 : 0;
    case ZHALO_CIC: return s < 1 ? 1 - s : 0;
    case ZHALO_TSC: return s < 0.5 ? 0.75 - s * s : s < 1.5 ? (1.5 - s) * (1.5 - s) / 2 : 0;
    default:
      return s < 1   ? (4 - 6 * s * s + 3 * s * s * s) / 6
             : s < 2 ? (2 - s) * (2 - s) * (2 - s) / 6
                     : 0;
  }
}
