// Initial conditions on the host.
#define ZHALO_BACKEND Host

#include "kernels/host/parallel.hpp"
// The loops come first: the texts of kernels/common are written in terms of them.
#include "kernels/common/lpt/lpt.hpp"
