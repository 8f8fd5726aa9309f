/// What the tests of zhalo.h have in common: expectations, points, and the definitions that results
/// are compared with, in plain C.
#pragma once

#include <mpi.h>
#include <stdint.h>

/// Counts a failure, and prints it, unless the condition holds. The test goes on: other ranks wait
/// in collectives.
#define EXPECT(condition) expect((condition), #condition, __FILE__, __LINE__)
void expect(int holds, const char* condition, const char* file, int line);
/// Expects that a call of zhalo succeeds, or prints its message.
#define EXPECT_OK(call) expect_status((call), 0, #call, __FILE__, __LINE__)
#define EXPECT_STATUS(call, status) expect_status((call), (status), #call, __FILE__, __LINE__)
void expect_status(int status, int wanted, const char* call, const char* file, int line);
/// Failures of all ranks so far. Collective.
int count_failures(void);

enum { max_points = 600 };

/// All points of all ranks. A rank gives those from `first` on, `num` of them.
typedef struct Points {
  int num_total;
  int dimensions;
  double length[3];  ///< of the box, which begins at 0
  int periodic;
  double position[max_points][3];
  double velocity[max_points][3];
  double mass[max_points];
  int first;
  int num;
} Points;

/// Clumps of points on a background, rounded to float. Uneven parts: of three ranks and more, the
/// second one has nothing.
void make_points(Points* points, int dimensions, int periodic);

/// Vector from one point to the nearest image of another one.
void separation(const Points* points, const double* from, const double* to, double* vector);
double distance(const Points* points, int a, int b);

/// Labels by definition: the smallest index that friends of friends reach.
void brute_labels(const Points* points, double linking_length, int64_t* labels);

/// The value of an assignment window of this order at a distance in cells.
double window_value(int order, double cells);
