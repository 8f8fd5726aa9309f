// Groups on the host.
#define ZHALO_BACKEND Host

#include "kernels/host/member_sums.hpp"
#include "kernels/host/parallel.hpp"
// The loops come first: the texts of kernels/common are written in terms of them.
#include "kernels/common/catalogue/group_sums.hpp"
#include "kernels/common/catalogue/groups.hpp"
