/// The cases of the test of results. Each compares with definitions, and is itself shown one wrong
/// result, which it must notice.
#pragma once

#include "tests/mpi/c/check.h"
#include "zhalo/zhalo.h"

void check_groups(const Points* points, const zhalo_domain* domain, double linking_length);
void check_neighbours(const Points* points, const zhalo_domain* domain, int precision);
void check_paint(const Points* points, const zhalo_domain* domain);
