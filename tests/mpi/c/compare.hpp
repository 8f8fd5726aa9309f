/// What C gets, beside what C++ gets: the same bits.
#pragma once

#include "zhalo/comm/context.hpp"
#include "zhalo/zhalo.h"

namespace zhalo::testing {

/// Two species in two and three dimensions, in float and double, and points: all that zhalo.h has
/// of groups, catalogues, neighbours and fields by `in_c`, and by `in_cpp`. Both contexts have the
/// same ranks, but one may be on a device. Collective.
void compare_c_and_cpp(const zhalo_context* in_c, const Context& in_cpp);

}  // namespace zhalo::testing
