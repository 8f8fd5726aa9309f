/// What the tests of errors have in common. Every rank gets the status and the message of an error,
/// and can go on.
#pragma once

#include <stdio.h>
#include <string.h>

#include "tests/mpi/c/check.h"
#include "zhalo/zhalo.h"

enum { num = 20 };

extern int rank, size;
extern double position[num][3];
extern const zhalo_box unit_box;

/// A grid of points, on each rank another plane: those of `position`.
zhalo_particles particles_of_rank(void);

/// Expects a status and words of the message.
#define EXPECT_ERROR(call, status, words)                           \
  do {                                                              \
    EXPECT_STATUS(call, status);                                    \
    if (strstr(zhalo_last_error(), words) == NULL) {                \
      fprintf(stderr, "the message is '%s'\n", zhalo_last_error()); \
      expect(0, "has the words: " words, __FILE__, __LINE__);       \
    }                                                               \
  } while (0)

void check_catalogues(const zhalo_domain* domain);
void check_points(const zhalo_domain* domain);
void check_species(const zhalo_context* context);
